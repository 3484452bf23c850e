@testable import Captures
import Dispatch
import Foundation
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Receiving
import Glibc

/// Random sequences of every request of every protocol by three senders, while files are removed and changed on the disk
/// and the receiver is ended and started again.
@Suite("Whatever is asked in whatever order, success is said of what is there", .runsPrograms)
struct ReceiverModelTests {
  @Test("No sequence ends in an answer of success for a file that is not there as it was sent")
  func sequences() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seeds =
      environment["SCANMILL_SEED"].flatMap { UInt64($0) }.map { [$0] }
      ?? (0..<UInt64(Rounds.of(12, soak: 3_000))).map { 41_000 + $0 }
    for seed in seeds {
      let result = await withCheckedContinuation { continuation in
        // Its calls wait for sockets.
        Thread.detachNewThread {
          continuation.resume(
            returning: Result {
              let model = try ReceiverModel(seed: seed)
              defer { model.end() }
              for _ in 0..<80 { try model.step() }
              try model.heal()
            })
        }
      }
      if case .failure(let error) = result {
        Issue.record("SCANMILL_SEED=\(seed): \(error)")
        return
      }
    }
  }
}

/// A receiver, what its senders were told, and what that means.
final class ReceiverModel {
  struct Broken: Error, CustomStringConvertible {
    var description: String
  }

  /// A file as somebody has sent it.
  struct Sent: Hashable {
    var capture: String
    var name: String
    var content: String
  }

  /// A folder of STAGING.
  struct Folder {
    var name: String
    var capture: String
    var files: [String: String]
    var manifest: UploadManifest?
  }

  struct Resumable {
    var location: String
    var sent: Sent
    var hasDigest: Bool
  }

  private let folder: TemporaryFolder
  private var staging: FilePath { folder.path.appending("staging") }
  var random: SeededGenerator
  var store: UploadStore?
  private var receiver: Receiver?
  var port = 0
  private let clock = LaterClock()
  var trace: [String] = []
  /// Times of files that were changed by hand: no two are the same.
  private var time = 1_000_000_000

  /// Verified content, as senders were told; it is in some folder of the capture until somebody removes it there.
  var kept: Set<Sent> = []
  /// What each sender has sent of each capture since it was complete.
  private var scans: [String: [String: String]] = [:]
  var resumable: [Resumable] = []
  /// Uploads whose last bytes are still to come.
  var open: [(connection: RawConnection, sent: Sent)] = []

  static let captures = ["a", "a~2", "b"]
  private static let senders = ["one", "two", "three"]
  static func token(_ sender: String) -> String {
    sender + String(repeating: "0", count: 20)
  }

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    folder = try TemporaryFolder()
    try start()
  }

  // MARK: The receiver

  private func start() throws {
    var limits = UploadLimits()
    limits.reserve = 0
    let store = try UploadStore(at: staging, limits: limits, now: clock.now)
    store.enterUnlisted()
    var settings = ReceiverSettings()
    settings.port = 0
    let list = Self.senders.map { "\($0) \(Self.token($0))\n" }.joined()
    let receiver = Receiver(
      store, settings: settings, tokens: try TokenList(text: list), executor: serverThreads)
    (self.store, self.receiver) = (store, receiver)
    port = try Self.waited { try await receiver.start() }
  }

  private static func waited<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let box = Box<Value>()
    Task {
      do { box.set(.success(try await body())) } catch { box.set(.failure(error)) }
      done.signal()
    }
    done.wait()
    guard let result = box.value else { throw Broken(description: "no result") }
    return try result.get()
  }

  private final class Box<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }
    var value: Result<Value, any Error>? { result.withLock { $0 } }
  }

  func end() { try? stop(isKilled: false) }

  private func stop(isKilled: Bool) throws {
    if isKilled { store?.abandon() }
    if let receiver { try Self.waited { await receiver.end(grace: 0) } }
    if !isKilled { store?.close() }
    for (connection, _) in open { connection.end() }
    open = []
    (store, receiver) = (nil, nil)
  }

  // MARK: The disk

  func folders() throws -> [Folder] {
    try FileSystem.names(in: staging).compactMap {
      name in
      guard !name.hasPrefix("."), let held = HeldFolder(staging.appending(name)) else { return nil }
      var files: [String: String] = [:]
      func gather(_ held: HeldFolder, _ prefix: String) throws {
        for (file, kind) in try held.list() where !file.hasPrefix(".") {
          if kind == .folder, let inner = held.below(file) {
            try gather(inner, "\(prefix)\(file)/")
          } else if let bytes = held.stampedContents(of: file)?.bytes {
            files[prefix + file] = String(decoding: bytes, as: UTF8.self)
          }
        }
      }
      try gather(held, "")
      let manifest = UploadManifest(in: held)
      return Folder(
        name: name, capture: manifest?.capture ?? name, files: files, manifest: manifest)
    }
  }

  func isThere(_ sent: Sent, _ folders: [Folder]) -> Bool {
    folders.contains { $0.capture == sent.capture && $0.files[sent.name] == sent.content }
  }

  func check(_ isTrue: Bool, _ what: String) throws {
    guard !isTrue else { return }
    let disk =
      (try? folders().map { "\($0.name) of \($0.capture): \($0.files.sorted { $0.key < $1.key })" })
      ?? []
    throw Broken(description: "\(what)\n\(trace.suffix(60).joined(separator: "\n"))\n\(disk)")
  }

  // MARK: Requests

  func pick<Element>(_ list: [Element]) -> Element {
    list[Int.random(in: 0..<list.count, using: &random)]
  }

  private func some() -> Sent {
    let capture = pick(Self.captures)
    return Sent(
      capture: capture,
      name: pick(["\(capture).imu", "\(capture).csv", "f/z.jpg", "k.json"]),
      content: pick(["", "0", "1", "22", "333", "same length", "same lengtH"]))
  }

  func request(
    _ sender: String, _ method: String, _ path: String, _ fields: [String] = [], body: String? = nil
  ) -> String {
    let isChunked = body != nil && random.chance(4)
    var lines =
      ["\(method) \(path) HTTP/1.1", "Host: h", "Authorization: Bearer \(Self.token(sender))"]
      + fields
    guard let body else { return lines.joined(separator: "\r\n") + "\r\n\r\n" }
    lines.append(isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.utf8.count)")
    let chunks =
      (body.isEmpty ? "" : "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n") + "0\r\n\r\n"
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + (isChunked ? chunks : body)
  }

  func ask(
    _ sender: String, _ method: String, _ path: String, _ fields: [String] = [], body: String? = nil
  ) throws -> RawConnection.Answer {
    let connection = try RawConnection(port: port)
    connection.send(request(sender, method, path, fields, body: body))
    var answer = connection.answer(toHead: method == "HEAD")
    while let interim = answer, interim.status < 200 { answer = connection.answer() }
    trace.append(
      "\(sender) \(method) \(path) \(fields) \(body ?? "-"): \(answer?.status ?? 0) \(answer?.message ?? "")"
    )
    guard let answer else { throw Broken(description: trace.suffix(20).joined(separator: "\n")) }
    try check(answer.status < 500, "an error of the server")
    return answer
  }

  static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
  static func sha256(_ content: String) -> String { Digest(of: content).hex }
  static func digestField(_ content: String) -> String {
    "Repr-Digest: sha-256=:\(Data(Digest(of: content).bytes).base64EncodedString()):"
  }

  /// Notes that a sender was told that a file has been received.
  func accepted(_ sent: Sent, by sender: String, isVerified: Bool) throws {
    try check(isThere(sent, try folders()), "success, and not there: \(sent)")
    scans["\(sender) \(sent.capture)", default: [:]][sent.name] = sent.content
    if isVerified { kept.insert(sent) }
  }

  func step() throws {
    let sender = pick(Self.senders)
    switch Int.random(in: 0..<26, using: &random) {
    case 0..<4: try upload(some(), sender)
    case 4..<6: try put(some(), sender)
    case 6: try begin(some(), sender)
    case 7: try endOpen()
    case 8..<10: try verify(some(), sender)
    case 10..<12: try createTus(some(), sender)
    case 12..<15: try goOn(sender)
    case 15: try form(sender)
    case 16..<19: try complete(sender, isListed: !random.chance(4))
    case 19..<21: try look(sender)
    case 21..<24: try changeDisk()
    case 24: try restart()
    default:
      clock.add(pick([10, 4_000, 50_000]))
      trace.append("time goes on")
    }
    let folders = try folders()
    for sent in kept { try check(isThere(sent, folders), "verified, and lost: \(sent)") }
  }

  private func complete(_ sender: String, isListed: Bool) throws {
    let capture = pick(Self.captures)
    var files = scans["\(sender) \(capture)"] ?? [:]
    if random.chance(5) { files["k.json"] = pick(["0", "never sent"]) }
    if random.chance(5) { files["f/z.jpg"] = nil }
    let list = files.sorted { $0.key < $1.key }.map { name, content in
      #"{"name":"\#(name)","bytes":\#(content.utf8.count),"sha256":"\#(Self.sha256(content))"}"#
    }
    let answer = try ask(
      sender, "POST", "/captures/\(capture)/complete", [],
      body: isListed && !files.isEmpty ? #"{"files":[\#(list.joined(separator: ","))]}"# : "")
    guard answer.status == 200 else { return }
    let whole = try folders().filter { folder in
      folder.capture == capture
        && (!isListed || files.allSatisfy { folder.files[$0.key] == $0.value })
        && folder.manifest.map { manifest in
          manifest.files.allSatisfy { file in
            folder.files[file.name].map { Self.sha256($0) == file.sha256 } ?? false
          } && (manifest.complete != nil || !open.isEmpty)
        } ?? false
    }
    try check(!whole.isEmpty, "complete, and no folder has all of \(files)")
    if isListed {
      for (name, content) in files {
        kept.insert(Sent(capture: capture, name: name, content: content))
      }
    }
    scans["\(sender) \(capture)"] = nil
  }

  private func look(_ sender: String) throws {
    struct List: Decodable { var captures: [View] }
    struct View: Decodable {
      struct File: Decodable { var name, sha256: String }
      var folder: String
      var complete: String?
      var files: [File]
    }
    let capture = pick(Self.captures + ["a~3"])
    switch Int.random(in: 0..<5, using: &random) {
    case 0: #expect(try ask(sender, "GET", "/health").status == 200)
    case 1: #expect(try ask(sender, "GET", "/").status == 200)
    case 2:
      let isKnown = try ask(sender, "GET", "/process/\(capture)").status == 200
      try check(!isKnown || folders().contains { $0.capture == capture }, "processing of nothing")
    default:
      let one = try ask(sender, "GET", "/captures/\(capture)")
      let all = try ask(sender, "GET", "/captures")
      let decoder = JSONDecoder()
      let views =
        try decoder.decode(List.self, from: Data(all.body.utf8)).captures
        + (one.status == 200 ? [try decoder.decode(View.self, from: Data(one.body.utf8))] : [])
      let folders = Dictionary(uniqueKeysWithValues: try folders().map { ($0.name, $0) })
      for view in views {
        for file in view.files {
          let content = folders[view.folder]?.files[file.name]
          try check(
            content.map { Self.sha256($0) == file.sha256 } ?? false,
            "listed, and not there: \(view.folder)/\(file.name)")
        }
      }
    }
  }

  // MARK: What happens to the disk and to the receiver

  private func changeDisk() throws {
    let folders = try folders()
    if random.chance(12) {
      try FileSystem.remove(staging.appending(".incoming"))
      trace.append(".incoming is removed")
    } else if let folder = folders.isEmpty ? nil : pick(folders), !folder.files.isEmpty {
      let name = pick(folder.files.keys.sorted())
      let file = staging.appending(folder.name).pushing(FilePath(name))
      switch Int.random(in: 0..<9, using: &random) {
      case 0:
        try FileSystem.remove(staging.appending(folder.name))
        trace.append("\(folder.name) is removed")
      case 1..<4:
        try FileSystem.remove(file)
        trace.append("\(folder.name)/\(name) is removed")
      default:
        let content = pick(["", "0", "1", "22", "damaged", "same lengtX"])
        if random.chance(2) {
          let beside = folder.name + ".beside"
          try Data(content.utf8).write(to: URL(filePath: staging.appending("." + beside).string))
          #expect(rename(staging.appending("." + beside).string, file.string) == 0)
        } else {
          let opened = Glibc.open(file.string, O_WRONLY | O_TRUNC)
          #expect(opened >= 0 && Glibc.write(opened, content, content.utf8.count) >= 0)
          close(opened)
        }
        time += 1
        var times = [timespec(tv_sec: time, tv_nsec: 0), timespec(tv_sec: time, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, file.string, &times, 0) == 0)
        trace.append("\(folder.name)/\(name) is \(content)")
      }
    }
    // What was put there by hand is nobody's.
    let now = try self.folders()
    kept = kept.filter { sent in
      now.contains { folder in
        folder.capture == sent.capture && folder.files[sent.name] == sent.content
          && folder.manifest?.files.contains {
            $0.name == sent.name && $0.state == .verified && $0.sha256 == Self.sha256(sent.content)
          } == true
      }
    }
  }

  private func restart() throws {
    // A second one has no chance, and changes nothing.
    #expect(throws: FileError.self) { _ = try UploadStore(at: staging) }
    let isKilled = random.chance(2)
    try stop(isKilled: isKilled)
    try start()
    trace.append(isKilled ? "killed, started" : "ended, started")
  }

  /// Whatever has happened, a scan that is sent now is there, complete, and seen by `watch`.
  func heal() throws {
    for (connection, _) in open { connection.end() }
    open = []
    let store = store
    Waiting.until("the end of all uploads") { store?.snapshot().activeUploads == 0 }
    for capture in Self.captures {
      let files = ["\(capture).imu", "\(capture).csv", "f/z.jpg", "k.json"].map {
        Sent(capture: capture, name: $0, content: "\($0) at the end")
      }
      for sent in files {
        let answer = try ask(
          "one", "PUT", "/captures/\(sent.capture)/files/\(sent.name)",
          [Self.digestField(sent.content)], body: sent.content)
        try check([200, 201].contains(answer.status), "refused: \(sent)")
        try accepted(sent, by: "one", isVerified: true)
      }
      let list = files.map { #"{"name":"\#($0.name)","sha256":"\#(Self.sha256($0.content))"}"# }
      let answer = try ask(
        "one", "POST", "/captures/\(capture)/complete", [],
        body: #"{"files":[\#(list.joined(separator: ","))]}"#)
      try check(answer.status == 200, "not complete: \(answer.body)")
    }
    try restart()
    let folders = try folders()
    for sent in kept { try check(isThere(sent, folders), "lost: \(sent)") }
    let found = CaptureFinder(.builtIn).find(staging)
    for folder in folders where !folder.files.isEmpty {
      let place = staging.appending(folder.name)
      let isSeen =
        found.captures.contains { $0.folder.starts(with: place) || $0.path.starts(with: place) }
        || found.unrecognized.contains { $0.path.starts(with: place) }
      try check(isSeen, "never mentioned: \(folder.name)")
    }
  }
}
