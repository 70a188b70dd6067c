// The current page and navigation: `place.route`, `place.go(route)`; plain links work too.
export { hrefOf, parseRoute, type Route } from "../core/route";
export { place } from "../state/route.svelte";
