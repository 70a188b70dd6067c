// The current page, reactive. Links are plain <a href>; one listener here handles their clicks.
import { hrefOf, parseRoute, type Route } from "../core/route";

class Place {
  route: Route = $state.raw(parseRoute(new URL(location.href)));

  /** Navigates; `replace` adds no history entry. */
  go(to: Route | string, { replace = false } = {}): void {
    const href = typeof to === "string" ? to : hrefOf(to);
    if (replace) history.replaceState(null, "", href);
    else if (href !== location.pathname + location.search + location.hash) history.pushState(null, "", href);
    this.read();
  }

  read(): void {
    this.route = parseRoute(new URL(location.href));
  }

  /** Returns a function that stops listening. */
  listen(): () => void {
    const back = (): void => this.read();
    const click = (event: MouseEvent): void => this.catchClick(event);
    addEventListener("popstate", back);
    addEventListener("hashchange", back);
    addEventListener("click", click);
    return () => {
      removeEventListener("popstate", back);
      removeEventListener("hashchange", back);
      removeEventListener("click", click);
    };
  }

  private catchClick(event: MouseEvent): void {
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!plain || event.defaultPrevented) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    this.go(link.pathname + link.search + link.hash);
  }
}

export const place = new Place();
