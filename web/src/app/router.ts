// Where the page is and how to go elsewhere: `place.route`, `place.go(route)`; plain links work too.
export { hrefOf, parseRoute, type Route } from "../core/route";
export { place } from "../state/route.svelte";
