import Captures
import Core
import FoundationEssentials
import HTTPTypes

/// tus 1.0.0 at `/tus/`: core, creation, creation-with-upload, termination, checksum, expiration.
///
/// An upload is a file of a capture (`Upload-Metadata`: `filename`, `capture`, `sha256`); without `capture` the name tells
/// it, as for `/upload`. Finished uploads are stored as every other one.
struct TusRoutes {
  let work: StoreWork
  private static let version = "1.0.0"
  private static let contentType = "application/offset+octet-stream"

  /// `parts`: behind `/tus`.
  func plan(_ exchange: inout Exchange, _ parts: [String]) async throws -> Plan {
    do {
      switch try await checked(&exchange, parts) {
      case .answer(let answer): return .answer(Self.signed(answer))
      case .read(let read): return .read { body in Self.signed(try await read(&body)) }
      }
    } catch {
      throw Self.signed(.refusal(error))
    }
  }

  private static func signed(_ answer: Answer) -> Answer { answer.with("Tus-Resumable", version) }

  private func checked(_ exchange: inout Exchange, _ parts: [String]) async throws -> Plan {
    let method =
      exchange.field("X-HTTP-Method-Override").flatMap { HTTPRequest.Method($0) }
      ?? exchange.request.method
    if method == .options { return .answer(options) }
    guard exchange.field("Tus-Resumable") == Self.version else {
      throw Answer.message(
        .preconditionFailed, "this server speaks tus \(Self.version)", outcome: "version"
      ).with("Tus-Version", Self.version)
    }
    switch (method, parts.count) {
    case (.post, 0): return try await create(&exchange)
    case (.head, 1): return .answer(try await head(parts[0]))
    case (.patch, 1): return try await patch(parts[0], &exchange)
    case (.delete, 1): return .answer(try await delete(parts[0]))
    default:
      throw Answer.message(
        .methodNotAllowed, "use \(parts.isEmpty ? "POST, OPTIONS" : "HEAD, PATCH, DELETE")",
        outcome: "method"
      ).with("Allow", parts.isEmpty ? "POST, OPTIONS" : "HEAD, PATCH, DELETE, OPTIONS")
    }
  }

  private var options: Answer {
    Answer(status: .noContent, outcome: "options").with("Tus-Version", Self.version)
      .with("Tus-Extension", "creation,creation-with-upload,termination,checksum,expiration")
      .with("Tus-Checksum-Algorithm", "md5,sha1,sha256")
      .with("Tus-Max-Size", work.store.limits.file.map { "\($0)" })
  }

  // MARK: Creation

  private func create(_ exchange: inout Exchange) async throws -> Plan {
    guard let length = Self.number(exchange.field("Upload-Length")) else {
      let isDeferred = exchange.field("Upload-Defer-Length") != nil
      throw UploadRefusal(
        .invalid,
        isDeferred ? "the length must be told at the beginning" : "Upload-Length is missing")
    }
    let request = try request(&exchange, length)
    let hasBody =
      try exchange.isChunked
      || exchange.fields[.contentLength] != nil
        && exchange.length() != 0
    let digest = hasBody ? try Self.digest(exchange) : nil
    if hasBody, exchange.fields[.contentType] != Self.contentType { throw Self.unknownType }
    // An upload of the same file that was broken off, for `scanmill send`, which remembers nothing.
    if !hasBody, exchange.field("Upload-Reuse") == "?1", let sha256 = request.sha256,
      let found = await work.run({
        $0.suspended(request.name, length: request.length, sha256: sha256)
      })
    {
      return .answer(
        answer(Self.location(found.id, exchange), at: found.offset, "resumed", isOver: false))
    }
    let upload = try await work.attempt { try $0.begin(request) }
    let location = Self.location(upload.id, exchange)
    guard hasBody else {
      if length == 0 { return .answer(ended(await finish(upload), upload, location)) }
      try await work.attempt { _ in try upload.suspend() }
      return .answer(answer(location, at: 0, "created", isOver: false))
    }
    return .read { [self] body in
      let end = await receive(&body, into: upload, digest)
      // The sender of a refused upload does not learn its address and cannot resume it.
      if case .failure(let refusal) = end, !Self.isForAnotherTime(refusal) {
        try? await work.attempt { try $0.terminate(upload.id) }
      }
      return ended(end, upload, location)
    }
  }

  private func request(
    _ exchange: inout Exchange, _ length: Int64
  ) throws(UploadRefusal) -> UploadRequest {
    let raw = exchange.field("Upload-Metadata") ?? ""
    let metadata = try Self.metadata(raw)
    guard let fileName = metadata["filename"] else {
      throw UploadRefusal(.invalid, "Upload-Metadata has no filename")
    }
    exchange.name = fileName
    let endings = work.store.limits.endings
    let name =
      if let capture = metadata["capture"] {
        try UploadName(capture: capture, path: fileName, endings: endings)
      } else {
        try UploadName(fileName: fileName, endings: endings)
      }
    exchange.capture = name.capture
    var request = exchange.upload(of: name)
    (request.length, request.resumableMetadata) = (length, raw)
    if let text = metadata["sha256"] {
      guard text.utf8.count == 64, text.utf8.allSatisfy(\.isHexDigit) else {
        throw UploadRefusal(.invalid, "sha256 is not a digest of 64 hexadecimal digits")
      }
      request.sha256 = text.lowercased()
    }
    return request
  }

  /// `name d29ybGQ=,other,…`: values by key. Throws for what is not of that form.
  static func metadata(_ text: String) throws(UploadRefusal) -> [String: String] {
    var values: [String: String] = [:]
    if text.isEmpty { return values }
    for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = pair.split(separator: " ")
      guard let key = words.first, words.count <= 2, values[String(key)] == nil,
        key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
      else { throw UploadRefusal(.invalid, "Upload-Metadata cannot be read") }
      var value = ""
      if words.count == 2 {
        guard let bytes = Data(base64Encoded: String(words[1])),
          let text = String(validating: bytes, as: UTF8.self)
        else {
          throw UploadRefusal(
            .invalid, "Upload-Metadata: the value of \(key) is not Base64 of UTF-8")
        }
        value = text
      }
      values[String(key)] = value
    }
    return values
  }

  // MARK: An upload

  private func head(_ id: String) async throws -> Answer {
    let answer = Answer(status: .ok, outcome: "offset").with("Cache-Control", "no-store")
    if let upload = await work.run({ $0.resumable(id) }) {
      let metadata = upload.record.resumable?.metadata ?? ""
      return answer.with("Upload-Offset", "\(upload.received)")
        .with("Upload-Length", upload.record.expected.map { "\($0)" })
        .with("Upload-Metadata", metadata.isEmpty ? nil : metadata)
        .with("Upload-Expires", Self.date(upload.expires))
    }
    guard let length = work.store.finishedLength(id) else { throw Self.unknown }
    return answer.with("Upload-Offset", "\(length)").with("Upload-Length", "\(length)")
  }

  private func patch(_ id: String, _ exchange: inout Exchange) async throws -> Plan {
    let told = Self.number(exchange.field("Upload-Offset"))
    guard let known = await work.run({ $0.resumable(id) }) else {
      guard let length = work.store.finishedLength(id), told == length else { throw Self.unknown }
      return .answer(answer(nil, at: length, "piece", isOver: true))
    }
    (exchange.capture, exchange.name) = (known.name.capture, known.name.name)
    guard exchange.fields[.contentType] == Self.contentType else { throw Self.unknownType }
    guard let told else { throw UploadRefusal(.invalid, "Upload-Offset is missing") }
    let digest = try Self.digest(exchange)
    let count = try exchange.length()
    let upload = try await work.attempt { try $0.resume(id) }
    let problem: Answer? =
      if upload.received != told {
        .message(
          .conflict, "the upload has \(upload.received) bytes, not \(told)", outcome: "offset")
      } else if let count, let length = upload.request.length, count > length - told {
        .refusal(
          UploadRefusal(.tooLarge, "more bytes than the \(length) that were announced"))
      } else {
        nil
      }
    if let problem {
      try await work.attempt { _ in try upload.suspend() }
      throw problem
    }
    return .read { [self] body in
      ended(await receive(&body, into: upload, digest), upload, nil)
    }
  }

  private func delete(_ id: String) async throws -> Answer {
    guard await work.run({ $0.resumable(id) }) != nil else { throw Self.unknown }
    try await work.attempt { try $0.terminate(id) }
    return Answer(status: .noContent, outcome: "terminated")
  }

  // MARK: Pieces

  /// Receives a piece. What has come of an upload that is not over is on the disk afterwards.
  ///
  /// - Parameter digest: what the piece must have; the piece counts as a whole or not at all.
  /// - Returns: `nil` if more is to come.
  private func receive(
    _ body: inout BodyReader, into upload: IncomingFile, _ digest: PieceDigest?
  ) async -> Result<UploadOutcome?, UploadRefusal> {
    do throws(UploadRefusal) {
      try await work.attempt { _ in try upload.beginPiece(isChecked: digest != nil) }
      var end: UploadRefusal?
      do throws(UploadRefusal) {
        try await work.receive(&body, into: upload, digest)
        if let digest, !digest.matches() {
          throw UploadRefusal(.wrongDigest, "the checksum differs: send it again")
        }
      } catch {
        guard Self.isForAnotherTime(error) else { throw error }
        if digest != nil { try await work.attempt { _ in try upload.dropPiece() } }
        end = error
      }
      if end != nil || upload.received != upload.request.length {
        try await work.attempt { _ in try upload.suspend() }
        return end.map { .failure($0) } ?? .success(nil)
      }
    } catch {
      // The received part is kept after a full disk and after a piece longer than announced. The answer says what
      // went wrong last: where the part cannot be kept, its sender begins again.
      let isKept = [.noSpace, .failed, .tooLarge].contains(error.kind)
      let end = await work.run { _ -> UploadRefusal in
        do throws(UploadRefusal) {
          guard isKept else {
            upload.abort()
            return error
          }
          if error.kind == .tooLarge { try upload.dropPiece() }
          try upload.suspend()
          return error
        } catch let failure {
          upload.abort()
          return failure
        }
      }
      return .failure(end)
    }
    return await finish(upload)
  }

  /// Whether the sender of a piece that was not taken may send it again, to the same upload.
  private static func isForAnotherTime(_ refusal: UploadRefusal) -> Bool {
    [.cut, .tooSlow, .wrongDigest].contains(refusal.kind)
  }

  /// Ends an upload of which everything is there.
  private func finish(_ upload: IncomingFile) async -> Result<UploadOutcome?, UploadRefusal> {
    do throws(UploadRefusal) {
      return .success(try await work.finish(upload))
    } catch {
      return .failure(error)
    }
  }

  // MARK: Answers

  private func ended(
    _ end: Result<UploadOutcome?, UploadRefusal>, _ upload: IncomingFile, _ location: String?
  ) -> Answer {
    switch end {
    case .success(let outcome?):
      return answer(location, at: outcome.bytes, outcome.kind.rawValue, isOver: true)
    case .success: return answer(location, at: upload.received, "piece", isOver: false)
    case .failure(let refusal):
      switch refusal.kind {
      case .wrongDigest:
        return .message(
          HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch"),
          "the checksum differs: send it again", outcome: "wrong digest")
      case .cut, .tooSlow: return .cut(refusal)
      default: return .refusal(refusal)
      }
    }
  }

  /// - Parameter location: of an upload that was created; `nil` for a piece.
  private func answer(
    _ location: String?, at offset: Int64, _ outcome: String, isOver: Bool
  ) -> Answer {
    let expires = work.store.now() &+ work.store.limits.resumableLifetime
    return Answer(status: location == nil ? .noContent : .created, outcome: outcome)
      .with("Location", location).with("Upload-Offset", "\(offset)")
      .with("Upload-Expires", isOver ? nil : Self.date(expires))
  }

  private static func location(_ id: String, _ exchange: Exchange) -> String {
    "\(exchange.target.base)/tus/\(id)"
  }

  private static let unknown = Answer.unknown("no such upload, or it has expired")
  private static let unknownType = Answer.message(
    .unsupportedMediaType, "the content type must be \(contentType)", outcome: "type")

  // MARK: Fields

  /// A number of digits only; `nil` for anything else.
  private static func number(_ text: String?) -> Int64? {
    guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else {
      return nil
    }
    return Int64(text)
  }

  /// `Upload-Checksum: sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=`; `nil` without one.
  private static func digest(_ exchange: Exchange) throws(UploadRefusal) -> PieceDigest? {
    func invalid(_ message: String) -> UploadRefusal { UploadRefusal(.invalid, message) }
    guard let field = exchange.field("Upload-Checksum") else { return nil }
    let words = field.split(separator: " ")
    guard words.count == 2 else { throw invalid("Upload-Checksum cannot be read") }
    guard let algorithm = MessageDigest.Algorithm(rawValue: words[0].lowercased()) else {
      throw invalid("Upload-Checksum: md5, sha1 and sha256 are known")
    }
    guard let bytes = Data(base64Encoded: String(words[1])), bytes.count == algorithm.byteCount
    else { throw invalid("Upload-Checksum is not a digest in Base64") }
    return PieceDigest(algorithm, expected: [UInt8](bytes))
  }

  /// The time as HTTP writes dates: `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func date(_ nanoseconds: Int64) -> String {
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let number = max(0, nanoseconds / 86_400_000_000_000)
    let day = CivilDay(number: number)
    let clock = UTCText.text(nanoseconds: nanoseconds).drop { $0 != "T" }.dropFirst().dropLast()
    return
      "\(days[Int(number % 7)]), \(day.day.padded(2)) \(day.monthName) \(day.year) \(clock) GMT"
  }
}

/// The digest of a piece, and what it must be. Used by one thread at a time.
///
/// Unchecked: libcrypto's contexts may be used from any thread, by one after the other, which the caller sees to.
final class PieceDigest: @unchecked Sendable {
  private let digest: MessageDigest
  private let expected: [UInt8]

  init(_ algorithm: MessageDigest.Algorithm, expected: [UInt8]) {
    digest = MessageDigest(algorithm)
    self.expected = expected
  }

  func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }

  /// To be called once.
  func matches() -> Bool { digest.finalizeHex() == MessageDigest.hex(expected) }
}
