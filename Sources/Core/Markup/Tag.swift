/// The elements used in pages.
public enum Tag: String, Sendable {
  case a, abbr, article, aside, bdi, body, br, button, caption, code, col, colgroup, dd, details,
    div, dl, dt, em
  case figcaption, figure, footer, form, h1, h2, h3, h4, header, hr, img, input, kbd, label
  case legend, li, link, main, meta, nav, ol, option, output, p, pre, progress, section, select,
    small
  case span, strong, summary, table, tbody, td, template, tfoot, th, thead, time, title, tr, ul, wbr
  // Drawings.
  case circle, clipPath, defs, desc, g, line, path, pattern, polygon, polyline, rect, svg, symbol,
    text, tspan, use

  var isVoid: Bool {
    switch self {
    case .br, .col, .hr, .img, .input, .link, .meta, .wbr: true
    default: false
    }
  }
}
