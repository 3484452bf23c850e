import Core

extension PageStyle {
  /// The common style plus that of capture pages.
  static let capture = PageStyle(text: common.text + capturePlots + capturePictures)

  /// Curves have the color of text, so that they are visible on any background; gaps differ by the
  /// direction of their hatching.
  private static let capturePlots = """
    figure.plot svg.plot{width:calc(100% - 4.75rem);margin:.5rem .75rem 0 4rem}
    figure.plot svg.plot.spans{width:calc(100% - 8.75rem);margin-left:8rem}
    figure.plot svg svg{overflow:hidden}
    svg .data{fill:none;stroke:var(--series-3);stroke-width:1.5;vector-effect:non-scaling-stroke;\
    stroke-linejoin:round;stroke-linecap:round}
    svg .fill{fill:var(--series-3);stroke:none}
    svg .marks{fill:var(--soft);stroke:var(--soft);stroke-width:1;vector-effect:non-scaling-stroke}
    svg .tick-y{text-anchor:end;fill:var(--soft)}
    svg .tick-x{text-anchor:middle;fill:var(--soft)}
    svg .axis-name{text-anchor:end;fill:var(--soft)}
    svg .lane{font-weight:600;paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
    svg g.gap,svg g.motion-gap{fill-opacity:1}
    svg g.gap rect{fill:url(#gap-hatch)}svg g.motion-gap rect{fill:url(#motion-gap-hatch)}
    svg g.gap line,svg g.motion-gap line{stroke:var(--failed);stroke-width:2}
    svg g.motion-gap line{stroke-dasharray:4 3}
    .gap-stroke{stroke:var(--failed);stroke-width:2;stroke-opacity:.75}
    svg.definitions{position:absolute;width:0;height:0}
    svg g.span rect{fill:var(--series-3)}svg g.span line{stroke:var(--series-3);stroke-width:2}
    svg g.span.failed rect{fill:var(--failed)}svg g.span.failed line{stroke:var(--failed)}
    svg .cut{stroke:var(--soft);stroke-width:2;stroke-dasharray:2 4}
    figure.plot svg.map{width:100%;max-width:32rem;height:auto;border:1px solid var(--line);\
    border-radius:.5rem}
    svg.map text{font-size:16px}
    svg.map .data{stroke-width:2.5}
    svg.map .jump{fill:none;stroke:var(--failed);stroke-width:2;stroke-dasharray:3 5;\
    vector-effect:non-scaling-stroke}
    svg.map .start,svg.map .start-core,svg.map .end{fill:none;vector-effect:non-scaling-stroke;\
    stroke:currentColor;stroke-width:16px;stroke-linecap:round}
    svg.map .start-core{stroke:var(--paper);stroke-width:9px}
    svg.map .end{stroke-linecap:square;stroke-width:10px}
    svg.map .scale-bar{fill:none;stroke:currentColor;stroke-width:2}

    """

  private static let capturePictures = """
    .verdict h1{margin-bottom:.25rem}
    .verdict-line{font-size:1.125rem}
    .verdict dl.facts{margin-top:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,8.5rem),1fr))}
    @media (min-width:40rem){.verdict dl.facts{grid-template-columns:repeat(auto-fill,minmax(11rem,1fr))}}
    @media (max-width:39.99rem){table.data caption{display:block}}
    .failure,.remedy{margin-bottom:.5rem}
    .warning-card.note{margin:0 0 1rem}
    ol.sheet{list-style:none;padding:0;display:grid;gap:.75rem .5rem;\
    grid-template-columns:repeat(3,1fr)}
    @media (min-width:40rem){ol.sheet{grid-template-columns:repeat(6,1fr)}}
    ol.sheet li{max-width:200px}
    ol.sheet img,ol.sheet svg{width:100%;height:auto;display:block;margin-bottom:.25rem}
    ol.sheet p{margin:0;text-align:center}
    svg.no-picture{background:var(--panel);border:1px dashed var(--soft)}
    svg.no-picture .cross{stroke:var(--line);stroke-width:2}
    svg.no-picture text{text-anchor:middle}
    figure.depth-scale{max-width:32rem;padding-right:1rem}
    figure.depth-scale svg.hatch-sample{display:inline-block;width:28px;height:14px;vertical-align:-2px;\
    overflow:hidden}
    .hatch-ground{fill:var(--panel)}
    table.figures td,table.figures th{padding-top:.125rem;padding-bottom:.125rem}
    pre.command{overflow-wrap:anywhere}
    @media print{ol.sheet{grid-template-columns:repeat(6,1fr)}ol.sheet li{break-inside:avoid}}

    """
}
