// Makes xterm.js work under a CSP without inline styles. xterm creates <style> elements and sets
// style attributes, and the CSP rejects both; here the former become constructed sheets and the
// latter go through the CSSOM. Rule: only elements that xterm creates are touched, and every sheet
// is removed with its terminal.
import type { Terminal } from "@xterm/xterm";

interface Inside {
  _core?: { _renderService?: { _renderer?: { value?: { _rowFactory?: { _document: Document } } } } };
}
type Make = Document["createElement"];

export class TerminalSheets {
  readonly #real: Document;
  readonly #sheets: CSSStyleSheet[] = [];
  /** The document that xterm sees. */
  readonly document: Document;

  constructor(real: Document = document) {
    this.#real = real;
    const make = this.#make(Document.prototype.createElement.bind(real) as Make);
    this.document = new Proxy(real, {
      get: (target, name) => {
        if (name === "createElement") return make;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value as (...rest: unknown[]) => unknown).bind(target) : value;
      },
      set: (target, name, value) => Reflect.set(target, name, value, target),
    });
  }

  /**
   * While opening, xterm 6.0 creates its scroll bar's style with the page's own document instead of
   * the given one.
   */
  open(terminal: Terminal, parent: HTMLElement): void {
    const own = this.#make(Document.prototype.createElement.bind(this.#real) as Make);
    Object.defineProperty(this.#real, "createElement", { value: own, configurable: true, writable: true });
    try {
      terminal.open(parent);
    } finally {
      Reflect.deleteProperty(this.#real, "createElement");
    }
    // The part of xterm that makes cells uses the global document; this replaces it. A browser test
    // watches for violations.
    const cells = (terminal as unknown as Inside)._core?._renderService?._renderer?.value?._rowFactory;
    if (cells) cells._document = this.document;
  }

  dispose(): void {
    const gone = new Set(this.#sheets.splice(0));
    this.#real.adoptedStyleSheets = this.#real.adoptedStyleSheets.filter((sheet) => !gone.has(sheet));
  }

  #make(create: Make): Make {
    return ((name: string, options?: ElementCreationOptions) => {
      if (name === "style") return this.#sheetElement(create("template"));
      return throughCssom(create(name, options));
    }) as Make;
  }

  /** Replaces xterm's style element; text written into it goes into a sheet. */
  #sheetElement(element: HTMLElement): HTMLElement {
    const sheet = new CSSStyleSheet();
    this.#sheets.push(sheet);
    this.#real.adoptedStyleSheets = [...this.#real.adoptedStyleSheets, sheet];
    let css = "";
    Object.defineProperty(element, "textContent", {
      get: () => css,
      set: (text: string) => {
        css = text;
        sheet.replaceSync(text);
      },
    });
    return element;
  }
}

function throughCssom(element: HTMLElement): HTMLElement {
  const plain = Element.prototype.setAttribute;
  Object.defineProperty(element, "setAttribute", {
    value: (name: string, value: string) => {
      if (name === "style") element.style.cssText = value;
      else plain.call(element, name, value);
    },
  });
  return element;
}
