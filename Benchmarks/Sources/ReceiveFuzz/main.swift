import Captures
import Foundation
import Core

@testable import Receiving

/// Gives damaged texts to whatever reads what senders of uploads send, and ends with 0 if every one was read or refused:
///
///     ReceiveFuzz target|form|manifest|journal|record|tus|digest|tokens SECONDS SEED
///
/// SECONDS are those of processors. `.ci/fuzz-receive` builds it with the address sanitizer and calls it. The text that
/// is at work is in `.build/fuzz-seeds/last-KIND`, written every so often, and the number of the round is printed at the
/// end: the same seed makes the same texts.
struct ReceiveFuzz {
  let kind: String
  let seconds: Double
  var mutations: Mutations
  private var rounds = 0
  private var readable = 0

  init(kind: String, seconds: Double, seed: UInt64) {
    (self.kind, self.seconds) = (kind, seconds)
    mutations = Mutations(seed: seed)
  }

  struct Wrong: Error {
    var what: String
  }

  // MARK: Samples

  private static let names = [
    "2016-07-01_04-29-44__5F0C.depth", "a+b.json", "a%252Bb.json", "m-primary.mp4",
    "\u{202E}right.h264",
    "a.e\u{301}.imu", "..", ".hidden", "a/b.png", "x\\y.txt", String(repeating: "W", count: 255),
    "",
  ]

  private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

  /// What is whole, by the kind of its reader.
  private static let samples: [String: [[UInt8]]] = {
    let boundary = "0xKhTmLbOuNdArY"
    func part(_ name: String, _ file: String, _ content: String) -> String {
      "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file)\"\r\n"
        + "Content-Type: image/png\r\n\r\n\(content)\r\n"
    }
    let form =
      part("media_file", "t1.mov", "video") + part("thumbnail", "t1.png", "\r\n--picture")
      + part("capture_info", "capture-info.json", "{}") + part("geo_data", "t1.json", "[]")
      + "--\(boundary)--\r\n"
    var manifest = UploadManifest(capture: "a", at: "2026-11-20T10:00:00.000000000Z")
    manifest.files = [
      UploadManifest.File(
        name: "a.imu", bytes: 12, md5: String(repeating: "0", count: 32),
        sha256: String(repeating: "f", count: 64), received: "2026-11-20T10:00:00.000000000Z",
        state: .verified, replaced: 1, sender: "ipad (192.0.2.7)", userAgent: "app/1",
        modified: "2026-11-20T10:00:00.000000000Z")
    ]
    var record = IncomingRecord(
      capture: "a", name: "a.imu", expected: 7, started: "2026-11-20T10:00:00.000000000Z",
      sender: "192.0.2.7", userAgent: "")
    record.resumable = .init(
      expires: "2026-11-27T10:00:00.000000000Z", sha256: String(repeating: "a", count: 64),
      metadata: "filename YQ==")
    return [
      "target": [
        "/upload", "/t/0123456789abcdefghij/multiscan/upload?process=1", "//multiscan//verify",
        "/verify?filename=a%252Bb.json&checksum=00112233445566778899aabbccddeeff",
        "/verify?checksum=00112233445566778899AABBCCDDEEFF&filename=a+b.json",
        "/captures/scan%20%2B%201/files/depth%2F0.png", "/tus/0011?x", "/?search=%22%3Cb%3E",
      ].map { Array($0.utf8) },
      "form": [Array(form.utf8), Array(form.replacingOccurrences(of: "\r\n", with: "\n").utf8)],
      "manifest": [(try? JSONText.pretty(manifest)) ?? []],
      "journal": [manifest.files.flatMap { (try? UploadJournal.line($0)) ?? [] }],
      "record": [(try? record.encoded()) ?? []],
      "tus": names.map {
        Array("filename \(base64($0)),capture \(base64("a")),sha256 \(base64("00")),empty".utf8)
      },
      "digest": [
        "sha-256=:\(base64(String(repeating: "x", count: 32))):", "sha-512=:AAAA:, sha-256=:AAAA:",
        "sha-256=AAAA", "rL0Y20zC+Fzt72VPzMSk2A==",
      ].map { Array($0.utf8) },
      "tokens": ["# who\nipad 0123456789abcdefghij\n\nb abcdefghij0123456789~.-_ # c\r\n"].map {
        Array($0.utf8)
      },
    ]
  }()

  static var kinds: [String] { samples.keys.sorted() }

  // MARK: Rounds

  mutating func run() throws {
    let samples = Self.samples[kind] ?? []
    let folder = URL(filePath: ".build/fuzz-seeds")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let last = folder.appending(path: "last-\(kind)")
    let start = clock()
    while Double(clock() - start) / Double(CLOCKS_PER_SEC) < seconds {
      for _ in 0..<256 {
        let sample = samples[mutations.below(samples.count)]
        let bytes = mutations.damaged(sample, other: samples[mutations.below(samples.count)])
        if rounds % 65_536 == 0 { try Data(bytes).write(to: last) }
        do {
          if try read(bytes) { readable += 1 }
        } catch {
          try Data(bytes).write(to: last)
          throw error
        }
        rounds += 1
      }
    }
    print("\(kind): \(rounds) damaged texts, \(readable) of them readable all the same")
  }

  private mutating func read(_ bytes: [UInt8]) throws -> Bool {
    // The library hands over headers as text, with a replacement character for what is not UTF-8.
    let text = String(decoding: bytes, as: UTF8.self)
    switch kind {
    case "target":
      let target = RequestTarget(text, prefixes: ["/multiscan", "/a"])
      guard target.path.utf8.first == UInt8(ascii: "/") else {
        throw Wrong(what: "a path without a slash: \(target.path)")
      }
      for raw in [target.raw("filename"), target.raw("checksum"), target.raw("search")] {
        guard let raw else { continue }
        for meaning in PercentEncoding.meanings(of: raw) {
          try check(try? UploadName(fileName: meaning, endings: UploadLimits.knownEndings))
        }
      }
      guard let parts = target.parts else { return false }
      if parts.count >= 2 {
        try check(
          try? UploadName(
            capture: parts[0], path: parts[1...].joined(separator: "/"),
            endings: UploadLimits.knownEndings))
      }
      return true
    case "form":
      var reader = try FormReader(contentType: "multipart/form-data; boundary=0xKhTmLbOuNdArY")
      var rest = bytes[...]
      var count = 0
      do {
        while !rest.isEmpty {
          let piece = rest.prefix(1 + mutations.below(mutations.below(2) == 0 ? 4 : 400))
          rest = rest.dropFirst(piece.count)
          for case .data(let data) in try reader.read(piece) { count += data.count }
        }
      } catch {
        return false
      }
      guard count <= bytes.count else { throw Wrong(what: "a form gives more than it has") }
      return reader.isDone
    case "manifest":
      guard let manifest = try? JSONDecoder().decode(UploadManifest.self, from: Data(bytes)) else {
        return false
      }
      _ = (manifest.bytes, manifest.isVerified, manifest.hasMismatch)
      let written = Data(try JSONText.pretty(manifest))
      let again = try JSONDecoder().decode(UploadManifest.self, from: written)
      guard again == manifest else { throw Wrong(what: "a manifest that is read otherwise again") }
      return true
    case "journal":
      let files = UploadJournal.files(in: bytes)
      let again = UploadJournal.files(in: try files.flatMap { try UploadJournal.line($0) })
      guard again == files else { throw Wrong(what: "a journal that is read otherwise again") }
      var manifest = UploadManifest(capture: "a", at: "2026-11-20T10:00:00.000000000Z")
      manifest.add(files)
      manifest.add(files)
      guard manifest.files.count <= files.count else {
        throw Wrong(what: "a file that is added twice")
      }
      _ = manifest.bytes
      return !files.isEmpty
    case "record":
      guard let record = IncomingRecord(bytes) else { return false }
      try check(
        try? UploadName(
          capture: record.capture, path: record.name, endings: UploadLimits.knownEndings))
      _ = record.resumable.map { UTCText.nanoseconds($0.expires) }
      return true
    case "tus":
      guard let values = try? TusRoutes.metadata(text) else { return false }
      if let name = values["filename"] {
        try check(try? UploadName(fileName: name, endings: UploadLimits.knownEndings))
        try check(
          try? UploadName(
            capture: values["capture"] ?? "a", path: name, endings: UploadLimits.knownEndings))
      }
      return true
    case "digest":
      let one = try? UploadRoutes.sha256(text)
      let other = try? UploadRoutes.digest(text, bytes: 16, "Content-MD5")
      if let one = one ?? nil, one.utf8.count != 64 { throw Wrong(what: "a digest of \(one)") }
      return one.flatMap(\.self) != nil || other.flatMap(\.self) != nil
    default:
      guard let list = try? TokenList(text: text) else { return false }
      guard list.name(of: "".utf8) == nil else { throw Wrong(what: "no token is a token") }
      return true
    }
  }

  /// Nothing that is accepted leads out of the folder of its capture.
  private func check(_ name: UploadName?) throws {
    guard let name else { return }
    let (folder, file) = name.parts
    for part in [name.capture, folder, file].compactMap(\.self) {
      guard !part.isEmpty, !part.hasPrefix("."), !part.utf8.contains(0x2F), !part.utf8.contains(0),
        part.utf8.count <= 255
      else { throw Wrong(what: "a name that is accepted: \(name)") }
    }
  }
}

let words = CommandLine.arguments
guard words.count == 4, ReceiveFuzz.kinds.contains(words[1]), let seconds = Double(words[2]),
  let seed = UInt64(words[3])
else {
  print("usage: ReceiveFuzz \(ReceiveFuzz.kinds.joined(separator: "|")) SECONDS SEED")
  exit(64)
}
var fuzz = ReceiveFuzz(kind: words[1], seconds: seconds, seed: seed)
try fuzz.run()
