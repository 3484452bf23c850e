import Captures
import HTTPTypes
import Core
import SystemPackage

/// What can only be looked at.
struct ViewRoutes {
  let work: StoreWork
  let states: (any CaptureStates)?

  // MARK: /health and /metrics

  func health(isEnding: Bool) async -> Answer {
    let reason = isEnding ? "shutting down" : await work.run { $0.problem() }
    guard let reason else { return .json(.ok, ["status": "ok"] as JSONObject, outcome: "ok") }
    let answer: JSONObject = ["status": "failing", "reason": reason]
    return .json(.serviceUnavailable, answer, outcome: "failing")
  }

  func metricsText() async -> Answer {
    let snapshot = await work.run { $0.snapshot() }
    var counts: [String: Int] = ["arriving": 0, "complete": 0, "incomplete": 0]
    for capture in snapshot.captures { counts[CaptureView.state(of: capture), default: 0] += 1 }
    let text = work.metrics.text(
      captures: counts, active: snapshot.activeUploads, free: snapshot.freeBytes)
    return .document("text/plain; version=0.0.4", Array(text.utf8), outcome: "ok")
  }

  // MARK: /captures

  /// What was received, as far as it is on the disk.
  ///
  /// - Parameter most: so many are looked at.
  private func views(
    _ search: String, most: Int = .max
  ) async -> (found: Int, list: [CaptureView], StoreSnapshot) {
    await work.run { [states] store in
      let snapshot = store.snapshot()
      let found = snapshot.captures.filter { capture in
        search.isEmpty
          || capture.folder.lowercased().contains(search.lowercased())
          || (capture.manifest.family ?? "").contains(search.lowercased())
      }
      let shown = found.prefix(most).compactMap { store.onDisk($0, isListed: true) }
      let gone = min(most, found.count) - shown.count
      let known = states?.states(of: shown.map(\.folder)) ?? [:]
      let now = store.now()
      return (
        found.count - gone,
        shown.map { CaptureView($0, watched: known[$0.folder], now: now) }, snapshot
      )
    }
  }

  private func search(_ target: RequestTarget) -> String {
    target.raw("search").flatMap { PercentEncoding.decoded($0.replacing("+", with: " ")) } ?? ""
  }

  func captures(_ target: RequestTarget) async -> Answer {
    let (_, list, snapshot) = await views(search(target))
    let answer: JSONObject = [
      "schema": 1, "captures": list, "freeBytes": snapshot.freeBytes,
      "receivedBytes": snapshot.receivedBytes, "activeUploads": snapshot.activeUploads,
    ]
    return .json(.ok, answer.withoutNulls, outcome: "ok")
  }

  func capture(_ folder: String) async -> Answer {
    let found = await work.run { [states] store -> CaptureView? in
      // A file that cannot be looked at is left out below.
      try? store.lookAgain(at: folder)
      guard
        let capture = store.snapshot().captures.first(where: {
          NameKey($0.folder) == NameKey(folder)
        }).flatMap({ store.onDisk($0) })
      else { return nil }
      return CaptureView(
        capture, watched: states?.states(of: [capture.folder])[capture.folder], now: store.now())
    }
    guard let found else { return .unknown("Nothing of that capture was received") }
    return .json(.ok, found, outcome: "ok")
  }

  // MARK: Pages

  /// Captures beyond these are only counted.
  private static let mostOnPage = 500

  func page(_ target: RequestTarget) async -> Answer {
    let search = search(target)
    let (found, list, snapshot) = await views(search, most: Self.mostOnPage)
    let page = StatusPage(
      captures: list, found: found, all: snapshot.captures.count,
      freeBytes: snapshot.freeBytes, search: search)
    return .document(Self.html, page.document, outcome: "page")
  }

  private static let html = "text/html; charset=utf-8"

  var style: Answer {
    .document("text/css; charset=utf-8", Array(StatusPage.style.utf8), outcome: "style")
  }

  var icon: Answer { .document("image/svg+xml", StatusPage.icon.bytes, outcome: "icon") }

  /// Relative links of a page need the slash at the end of its folder.
  func toFolder(of path: String) -> Answer {
    let plain = path.prefix { $0 != "?" }
    let last = plain.split(separator: "/").last.map(String.init) ?? ""
    // Without the dot, `https:` would be the scheme of another address.
    return .message(.permanentRedirect, "see the address with a slash", outcome: "slash")
      .with("Location", "./\(last)/")
  }

  func report(_ folder: String) async -> Answer {
    guard UploadName.isAcceptable(folder),
      let page = await work.run({ [states] _ in states?.report(of: folder) })
    else { return .unknown("There is no report of that capture").readOnly() }
    // The page states its own content security policy in its head.
    return .document(Self.html, page, outcome: "report").with("X-Content-Type-Options", "nosniff")
      .with("Cache-Control", "no-store").with("Referrer-Policy", "no-referrer")
  }
}

extension UploadStore {
  /// Why nothing can be received; `nil` if all is well. Writes and removes a file.
  func problem() -> String? {
    if let free = files.freeBytes(at: staging.path), free < limits.reserve {
      return "free space is below the reserve"
    }
    guard staging.isInPlace else { return "the staging folder is gone" }
    let name = "\(Self.randomName()).new"
    do throws(FileError) {
      let incoming = try partsFolder()
      let file = try files.create(name, in: incoming)
      try files.close(file, at: incoming.path.appending(name))
      try files.remove(name, in: incoming)
      return nil
    } catch {
      return "the staging folder cannot be written (\(error.problem))"
    }
  }
}
