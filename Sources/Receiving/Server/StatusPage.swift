import Captures
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
      head: Tag.title { "scanmill receive" }
        + Tag.meta(.httpEquiv("refresh"), .content("10"))
        + Tag.link(Attribute("rel", "stylesheet"), .link(.file(["style.css"])))
        + Tag.link(Attribute("rel", "icon"), .link(.file(["icon.svg"]))),
      body: Tag.main {
        Tag.h1 { "Uploads" }
        Tag.p(.id("summary")) { summary }
        searchField
        if captures.isEmpty {
          Tag.p {
            search.isEmpty
              ? "Nothing was received yet." : "No capture has this in its name or family."
          }
        }
        for capture in captures { section(capture) }
        if found > captures.count {
          Tag.p {
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
    Tag.form {
      Tag.label(Attribute("for", "search")) { "Search" }
      Tag.input(
        .id("search"), Attribute("name", "search"), Attribute("type", "search"),
        Attribute("value", search))
      Tag.button { "Find" }
    }
  }

  private func section(_ capture: CaptureView) -> Markup {
    Tag.section(
      Attribute("data-capture", capture.folder), Attribute("data-state", capture.state)
    ) {
      Tag.h2 { Markup.name(capture.folder) }
      Tag.p {
        Tag.strong { capture.state.prefix(1).uppercased() + capture.state.dropFirst() }
        Markup(text: " · \(capture.family ?? "family unknown") · \(counts(capture)) · ")
        Tag.time(Attribute("datetime", capture.lastArrival)) {
          String(capture.lastArrival.prefix(19)).replacing("T", with: " ") + " UTC"
        }
      }
      if NameKey(capture.folder) != NameKey(capture.capture) {
        Tag.p(.classes("twin")) {
          "Same id, other content: kept beside "
          Markup.name(capture.capture)
        }
      }
      for upload in capture.arriving { line(upload) }
      missing(capture)
      let wrong = capture.files.filter { $0.state == "mismatch" }
      if !wrong.isEmpty {
        Tag.p(.classes("wrong")) {
          "Damaged on the way, to be sent again: "
          list(wrong.map(\.name))
        }
      }
      if let watch = capture.watch {
        Tag.p(.classes("watch")) {
          Markup(text: "Processing: \(watch.state)\(watch.note.isEmpty ? "" : ": " + watch.note) ")
          if watch.hasReport {
            Tag.a(.link(.file(["reports", capture.folder]))) { "report" }
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
    return Tag.p(.classes("missing")) {
      "Waits for "
      list(
        names.map {
          $0.hasPrefix("\(capture.capture).") ? String($0.dropFirst(capture.capture.count)) : $0
        })
      if names.count > 12 { Markup(text: " and \(names.count - 12) more") }
    }
  }

  @MarkupBuilder private func list(_ names: [String]) -> Markup {
    for (index, name) in names.prefix(12).enumerated() {
      if index > 0 { Markup(text: ", ") }
      Markup.name(name)
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
    return Tag.p(.classes("upload")) {
      Markup.name(upload.name)
      if let expected = upload.expected, expected > 0 {
        Tag.progress(
          Attribute("max", "\(expected)"), Attribute("value", "\(upload.received)"),
          .label("\(upload.name): received"))
      }
      Markup(text: text + " from ")
      Markup.name(upload.sender)
    }
  }

  private func details(_ capture: CaptureView) -> Markup {
    guard !capture.files.isEmpty else { return .nothing }
    return Tag.details {
      Tag.summary { "Files" }
      Tag.ul {
        for file in capture.files.prefix(100) {
          Tag.li {
            Markup.name(file.name)
            Markup(text: " \(ByteCount.text(file.bytes)), \(file.state)")
          }
        }
        if capture.files.count > 100 {
          Tag.li { "and \(capture.files.count - 100) more" }
        }
      }
    }
  }

  /// An arrow into a tray, in two colors that are seen on light and dark.
  static let icon = Tag.svg(
    Attribute("xmlns", "http://www.w3.org/2000/svg"), Attribute("width", 32),
    Attribute("height", 32)
  ) {
    Tag.path(Attribute("d", "M14 4h4v12h5l-7 8-7-8h5zM4 26h24v3H4z"), Attribute("fill", "#2a7f9e"))
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

/// What the watcher has made of a capture, for the page.
public struct WatchedState: Codable, Hashable, Sendable {
  /// A `CaptureState`: `queued`, `running`, `done`, …
  public var state: String
  /// Why it failed, or what it waits for; empty without one.
  public var note: String
  /// Whether there is a report.
  var hasReport: Bool

  public init(state: String, note: String = "", hasReport: Bool = false) {
    self.state = state
    self.note = note
    self.hasReport = hasReport
  }
}

/// Looks up what the watcher has made of captures. Calls may wait for the disk.
public protocol CaptureStates: Sendable {
  /// By the name of the folder in STAGING.
  func states(of folders: [String]) -> [String: WatchedState]
  /// The report of a capture, a page; `nil` if there is none.
  func report(of folder: String) -> [UInt8]?
}

/// A capture as the page and `/captures` show it. No token is in it.
struct CaptureView: Encodable {
  struct File: Encodable {
    var name: String
    var bytes: Int64
    var state: String
    var received: String
    var md5: String
    var sha256: String
  }

  struct Arriving: Encodable {
    var name: String
    var expected: Int64?
    var received: Int64
    /// `nil` while nothing is sent.
    var bytesPerSecond: Double?
    var sender: String
  }

  /// In STAGING.
  var folder: String
  var capture: String
  var family: String?
  /// `arriving`, `complete` or `incomplete`.
  var state: String
  var firstArrival: String
  var lastArrival: String
  var complete: String?
  var missing: [String]
  var processRequested: String?
  var bytes: Int64
  var verified: Int
  var files: [File]
  var arriving: [Arriving]
  var watch: WatchedState?

  init(_ capture: StoreSnapshot.Capture, watched: WatchedState?, now: Int64) {
    let manifest = capture.manifest
    folder = capture.folder
    self.capture = manifest.capture
    family = manifest.family
    state = Self.state(of: capture)
    firstArrival = manifest.firstArrival
    lastArrival = manifest.lastArrival
    complete = manifest.complete
    missing = manifest.missing
    processRequested = manifest.processRequested
    bytes = manifest.bytes
    verified = manifest.files.count { $0.state == .verified }
    files = manifest.files.map {
      File(
        name: $0.name, bytes: $0.bytes, state: $0.state.rawValue, received: $0.received,
        md5: $0.md5, sha256: $0.sha256)
    }
    arriving = capture.arriving.map { upload in
      let seconds = Double(now &- upload.started) / 1e9
      return Arriving(
        name: upload.name.name, expected: upload.record.expected, received: upload.received,
        bytesPerSecond: upload.isActive && seconds > 0.5 ? Double(upload.received) / seconds : nil,
        sender: upload.record.sender)
    }.sorted { $0.name < $1.name }
    watch = watched
  }

  static func state(of capture: StoreSnapshot.Capture) -> String {
    if !capture.arriving.isEmpty { return "arriving" }
    return capture.manifest.complete == nil ? "incomplete" : "complete"
  }
}
