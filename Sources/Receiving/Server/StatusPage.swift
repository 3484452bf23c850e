import Core

/// The page of what was received: captures newest first. Needs no script; refreshes itself.
struct StatusPage {
  let captures: [CaptureView]
  /// How many the search found, and how many there are.
  let found: Int
  let all: Int
  let freeBytes: Int64?
  let search: String

  var document: [UInt8] {
    Markup.servedDocument(
      head: Markup.element(.title) { "scanmill receive" }
        + Markup.element(.meta, .httpEquiv("refresh"), .content("10"))
        + Markup.element(
          .link, Attribute("rel", "stylesheet"), .link(.file(["style.css"])))
        + Markup.element(.link, Attribute("rel", "icon"), .link(.file(["icon.svg"]))),
      body: Markup.element(.main) {
        Markup.element(.h1) { "Uploads" }
        Markup.element(.p, .id("summary")) { summary }
        searchField
        if captures.isEmpty {
          Markup.element(.p) {
            search.isEmpty
              ? "Nothing was received yet." : "No capture has this in its name or family."
          }
        }
        for capture in captures { section(capture) }
        if found > captures.count {
          Markup.element(.p) {
            "\(found - captures.count) older captures are not shown: search for them."
          }
        }
      })
  }

  private var summary: String {
    let free = freeBytes.map { "\(ByteCount.text($0)) free." } ?? "Free space unknown."
    return "\(Plural.text(Int64(all), "capture")). \(free)"
  }

  private var searchField: Markup {
    .element(.form) {
      Markup.element(.label, Attribute("for", "search")) { "Search" }
      Markup.element(
        .input, .id("search"), Attribute("name", "search"), Attribute("type", "search"),
        Attribute("value", search))
      Markup.element(.button) { "Find" }
    }
  }

  private func section(_ capture: CaptureView) -> Markup {
    .element(
      .section, Attribute("data-capture", capture.folder), Attribute("data-state", capture.state)
    ) {
      Markup.element(.h2) { Markup.name(capture.folder) }
      Markup.element(.p) {
        Markup.element(.strong) { words(capture.state) }
        Markup(text: " · \(capture.family ?? "family unknown") · \(counts(capture)) · ")
        Markup.element(.time, Attribute("datetime", capture.lastArrival)) {
          String(capture.lastArrival.prefix(19)).replacing("T", with: " ") + " UTC"
        }
      }
      if NameKey(capture.folder) != NameKey(capture.capture) {
        Markup.element(.p, .classes("twin")) {
          "Same id, other content: kept beside "
          Markup.name(capture.capture)
        }
      }
      for upload in capture.arriving { line(upload) }
      missing(capture)
      let wrong = capture.files.filter { $0.state == "mismatch" }
      if !wrong.isEmpty {
        Markup.element(.p, .classes("wrong")) {
          "Damaged on the way, to be sent again: "
          for (index, file) in wrong.prefix(12).enumerated() {
            if index > 0 { Markup(text: ", ") }
            Markup.name(file.name)
          }
        }
      }
      if let watch = capture.watch {
        Markup.element(.p, .classes("watch")) {
          Markup(text: "Processing: \(watch.state)\(watch.note.isEmpty ? "" : ": " + watch.note) ")
          if watch.hasReport {
            Markup.element(.a, .link(.file(["reports", capture.folder]))) { "report" }
          }
        }
      }
      details(capture)
    }
  }

  /// Names that are neither there nor on their way, without the id, which most of them begin with.
  private func missing(_ capture: CaptureView) -> Markup {
    let arriving = Set(capture.arriving.map { NameKey($0.name) })
    let names = capture.missing.filter { !arriving.contains(NameKey($0)) }
    guard !names.isEmpty else { return .nothing }
    return .element(.p, .classes("missing")) {
      "Waits for "
      for (index, name) in names.prefix(12).enumerated() {
        if index > 0 { Markup(text: ", ") }
        Markup.name(
          name.hasPrefix("\(capture.capture).")
            ? String(name.dropFirst(capture.capture.count)) : name)
      }
      if names.count > 12 { Markup(text: " and \(names.count - 12) more") }
    }
  }

  private func words(_ state: String) -> String {
    switch state {
    case "arriving": "Arriving"
    case "complete": "Complete"
    default: "Incomplete"
    }
  }

  private func counts(_ capture: CaptureView) -> String {
    let got = capture.files.count
    let expected = got + capture.missing.count
    let files =
      capture.missing.isEmpty ? Plural.text(Int64(got), "file") : "\(got) of \(expected) files"
    return "\(files), \(capture.verified) verified, \(ByteCount.text(capture.bytes))"
  }

  private func line(_ upload: CaptureView.Arriving) -> Markup {
    var text = " \(ByteCount.text(upload.received))"
    if let expected = upload.expected { text += " of \(ByteCount.text(expected))" }
    if let rate = upload.bytesPerSecond { text += ", \(ByteCount.text(Int64(rate))) per second" }
    return .element(.p, .classes("upload")) {
      Markup.name(upload.name)
      if let expected = upload.expected, expected > 0 {
        Markup.element(
          .progress, Attribute("max", "\(expected)"), Attribute("value", "\(upload.received)"),
          .label("\(upload.name): received"))
      }
      Markup(text: text + " from ")
      Markup.name(upload.sender)
    }
  }

  private func details(_ capture: CaptureView) -> Markup {
    guard !capture.files.isEmpty else { return .nothing }
    return .element(.details) {
      Markup.element(.summary) { "Files" }
      Markup.element(.ul) {
        for file in capture.files.prefix(100) {
          Markup.element(.li) {
            Markup.name(file.name)
            Markup(text: " \(ByteCount.text(file.bytes)), \(file.state)")
          }
        }
        if capture.files.count > 100 {
          Markup.element(.li) { "and \(capture.files.count - 100) more" }
        }
      }
    }
  }

  /// An arrow into a tray, in two colors that are seen on light and dark.
  static let icon = Markup.element(
    .svg, Attribute("xmlns", "http://www.w3.org/2000/svg"), Attribute("width", 32),
    Attribute("height", 32)
  ) {
    Markup.element(
      .path, Attribute("d", "M14 4h4v12h5l-7 8-7-8h5zM4 26h24v3H4z"), Attribute("fill", "#2a7f9e"))
  }

  static let style = """
    :root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
    body { margin: 0; }
    main { max-width: 50rem; margin: 0 auto; padding: 0 1rem 2rem; }
    h1 { font-size: 1.5rem; }
    h2 { font-size: 1.1rem; margin: 0; }
    h2, p, li { overflow-wrap: anywhere; }
    p { margin: .25rem 0; }
    form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0 1rem; }
    input { flex: 1; min-width: 8rem; }
    input, button { font: inherit; padding: .4rem; min-height: 2.75rem; box-sizing: border-box; }
    section { border-top: 1px solid; padding: .75rem 0; }
    progress { display: block; width: 100%; }
    summary { min-height: 2rem; }
    ul { margin: 0; padding-left: 1.25rem; }
    .wrong { color: #b00020; font-weight: bold; }
    @media (prefers-color-scheme: dark) { .wrong { color: #ff8a95; } }

    """
}
