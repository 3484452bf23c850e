import Core
import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOPosix

/// What the apps ask for, and the newer interface for whole captures.
struct UploadRoutes {
  let work: StoreWork

  // MARK: /upload

  /// `PUT /upload` with the name in a header.
  func upload(_ exchange: inout Exchange) async throws -> Plan {
    let names = exchange.values("FILE_NAME")
    guard names.count == 1, let fileName = names.first else {
      throw Answer.message(
        .badRequest, "the header FILE_NAME is missing: a proxy may drop headers with underscores",
        outcome: "no name")
    }
    exchange.name = String(fileName.prefix(255))
    let name = try UploadName(fileName: fileName, endings: work.store.limits.endings)
    exchange.capture = name.capture
    return try await receive(exchange.upload(of: name), exchange) { outcome in
      .message(
        .ok, outcome.kind == .identical ? Self.alreadyExists : "ok", outcome: outcome.kind.rawValue)
    }
  }

  private static let alreadyExists = "File already exists on server"

  /// Checks what the header tells, then receives the body.
  private func receive(
    _ request: UploadRequest, _ exchange: Exchange,
    _ answer: @escaping @Sendable (UploadOutcome) -> Answer
  ) async throws -> Plan {
    if Self.tellsOfPart(exchange) {
      throw UploadRefusal(.invalid, "parts of files are not accepted: send the whole file")
    }
    var request = request
    request.length = try exchange.length()
    let upload = try await work.attempt { [request] in try $0.begin(request) }
    return .read { [work] body in
      do {
        try await work.receive(&body, into: upload)
        return answer(try await work.finish(upload))
      } catch {
        await work.run { _ in upload.abort() }
        throw error
      }
    }
  }

  /// Whether a request says that its body is a part of a file, also by any iteration of the draft of the IETF for resumable
  /// uploads, which is not spoken here: it must not be taken for the whole file. Parameters of a field are passed over.
  private static func tellsOfPart(_ exchange: Exchange) -> Bool {
    func value(_ name: String) -> Substring? { exchange.field(name)?.prefix { !" ;".contains($0) } }
    return exchange.field("Content-Range") != nil
      || value("Upload-Complete") == "?0" || value("Upload-Incomplete") == "?1"
      || value("Upload-Offset").flatMap { Int64($0) } ?? 0 > 0
  }

  // MARK: /verify and /process

  func verify(_ exchange: inout Exchange) async throws -> Answer {
    guard let raw = exchange.target.raw("filename"), !raw.isEmpty,
      let checksum = exchange.target.raw("checksum")
    else { throw UploadRefusal(.invalid, "filename and checksum are needed") }
    guard checksum.utf8.count == 32, checksum.utf8.allSatisfy(\.isHexDigit) else {
      throw UploadRefusal(.invalid, "checksum is not an MD5 digest of 32 hexadecimal digits")
    }
    let found = try await work.attempt {
      try $0.verify(PercentEncoding.meanings(of: raw), md5: checksum)
    }
    exchange.capture = found.name?.capture ?? ""
    exchange.name = found.name?.name ?? String(raw.prefix(255))
    switch found.answer {
    case .same:
      work.metrics.count { $0.verified += 1 }
      return .message(.ok, "ok", outcome: "verified")
    case .other:
      work.metrics.count { $0.mismatches += 1 }
      return .message(
        .badRequest, "File hash mismatch. Send the file again.", outcome: "mismatch")
    case .absent:
      return .unknown("File does not exist on server")
    }
  }

  func process(_ capture: String, _ exchange: inout Exchange) async throws -> Answer {
    exchange.capture = capture
    return try await work.attempt { try $0.requestProcessing(of: capture) }
      ? .message(.ok, "ok", outcome: "process requested")
      : .unknown("Nothing of that capture was received")
  }

  // MARK: /captures

  /// `PUT /captures/<capture>/files/<name>`.
  func put(_ capture: String, _ path: String, _ exchange: inout Exchange) async throws -> Plan {
    (exchange.capture, exchange.name) = (capture, path)
    var request = exchange.upload(
      of: try UploadName(capture: capture, path: path, endings: work.store.limits.endings))
    request.md5 = try Self.digest(exchange.field("Content-MD5"), bytes: 16, "Content-MD5")
    request.sha256 = try Self.sha256(exchange.field("Repr-Digest"))
    return try await receive(request, exchange) { outcome in
      let kind = outcome.kind
      return switch kind {
      case .stored, .keptBoth: .message(.created, "stored", outcome: kind.rawValue)
      case .identical: .message(.ok, Self.alreadyExists, outcome: kind.rawValue)
      case .replaced: .message(.ok, "replaced", outcome: kind.rawValue)
      }
    }
  }

  /// Hex digits of a digest in Base64; `nil` without one.
  static func digest(
    _ text: String?, bytes count: Int, _ field: String
  ) throws(UploadRefusal) -> String? {
    guard let text else { return nil }
    guard let bytes = Data(base64Encoded: text), bytes.count == count else {
      throw UploadRefusal(.invalid, "\(field) is not a digest in Base64")
    }
    return MessageDigest.hex([UInt8](bytes))
  }

  /// The digest in `sha-256=:…:`; other digests are passed over.
  static func sha256(_ field: String?) throws(UploadRefusal) -> String? {
    for part in (field ?? "").split(separator: ",") {
      let text = part.drop { $0 == " " }
      guard text.lowercased().hasPrefix("sha-256=") else { continue }
      let value = text.dropFirst("sha-256=".count)
      guard value.first == ":", value.last == ":", value.utf8.count > 2 else {
        throw UploadRefusal(.invalid, "Repr-Digest is not sha-256=:…:")
      }
      return try digest(String(value.dropFirst().dropLast()), bytes: 32, "Repr-Digest")
    }
    return nil
  }

  private struct CompletionBody: Decodable {
    var files: [UploadStore.Declared]?
  }

  /// `POST /captures/<capture>/complete`.
  func complete(_ capture: String, _ exchange: inout Exchange) -> Plan {
    exchange.capture = capture
    let sender = exchange.sender
    // Without chunks and without a length there is no body.
    let hasBody = exchange.isChunked || exchange.fields[.contentLength] != nil
    return .read { [work] body in
      var list: [UploadStore.Declared]?
      if hasBody {
        let bytes: [UInt8]?
        do throws(UploadRefusal) { bytes = try await body.whole(atMost: 64 << 20) } catch {
          throw Answer.cut(error)
        }
        guard let bytes else { return .message(.contentTooLarge, "the list is too long") }
        if !bytes.isEmpty {
          guard let told = try? CompletionBody(json: bytes) else {
            throw UploadRefusal(
              .invalid,
              "the list is not JSON of the form {\"files\":[{\"name\",\"bytes\",\"sha256\"}]}")
          }
          list = told.files
        }
      }
      let answer = try await work.attempt { [list] in
        try $0.complete(capture, list, sender: sender)
      }
      return .json(
        answer.isComplete ? .ok : .conflict,
        [
          "message": answer.isComplete ? "complete" : "the capture is not complete",
          "missing": answer.missing, "different": answer.different,
        ] as JSONObject,
        outcome: answer.isComplete ? "complete" : "incomplete")
    }
  }
}

/// The store as the server uses it: what waits for the disk runs on threads of its own, never on those that serve
/// connections.
final class StoreWork: Sendable {
  let store: UploadStore
  let metrics = ReceiverMetrics()
  private let pool: NIOThreadPool
  /// Number of bytes that are handed to the disk at a time.
  private static let pieceBytes = 256 << 10

  init(_ store: UploadStore, threads: Int = 16) {
    self.store = store
    pool = NIOThreadPool(numberOfThreads: threads)
    pool.start()
  }

  func run<Result: Sendable>(
    _ body: @escaping @Sendable (UploadStore) -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      pool.submit { [store] _ in continuation.resume(returning: body(store)) }
    }
  }

  func attempt<Result: Sendable>(
    _ body: @escaping @Sendable (UploadStore) throws -> Result
  ) async throws(UploadRefusal) -> Result {
    try await run { store in
      Swift.Result { () throws(UploadRefusal) in try UploadStore.refusing { try body(store) } }
    }.get()
  }

  /// The next bytes of a body; `nil` at its end.
  func next(_ body: inout BodyReader) async throws(UploadRefusal) -> ByteBuffer? {
    do throws(UploadRefusal) { return try await body.next() } catch {
      metrics.count { $0.interrupted += 1 }
      throw error
    }
  }

  /// Adds a body to an upload, and to `digest` as well.
  func receive(
    _ body: inout BodyReader, into upload: IncomingFile, _ digest: PieceDigest? = nil
  ) async throws(UploadRefusal) {
    while true {
      let pieces: [ByteBuffer]
      do throws(UploadRefusal) { pieces = try await body.next(about: Self.pieceBytes) } catch {
        metrics.count { $0.interrupted += 1 }
        throw error
      }
      if pieces.isEmpty { return }
      try await attempt { _ in
        for piece in pieces {
          try piece.withUnsafeReadableBytes { bytes in
            try upload.append(bytes)
            digest?.update(bytes)
          }
        }
      }
    }
  }

  /// Ends an upload of which everything is there.
  func finish(_ upload: IncomingFile) async throws(UploadRefusal) -> UploadOutcome {
    let outcome = try await attempt { _ in try upload.finish() }
    metrics.count(outcome)
    return outcome
  }

  func end() async { try? await pool.shutdownGracefully() }
}
