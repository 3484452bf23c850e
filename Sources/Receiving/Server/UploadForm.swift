import Core
import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// The form of the Strabo SDK: four files of one capture in one request. All are kept, or none.
struct UploadForm {
  private let work: StoreWork
  private let exchange: Exchange
  private var reader: FormReader
  private var token: String?
  private var uploads: [IncomingFile] = []
  /// Fields that have come. Each part holds a file open.
  private var seen: Set<String> = []
  /// Whether the part that is being read is kept.
  private var isInFile = false

  private static let media = "media_file"
  private static let fields: Set<String> = [media, "thumbnail", "capture_info", "geo_data"]

  static func plan(_ exchange: Exchange, _ work: StoreWork) throws -> Plan {
    _ = try exchange.length()
    let form: UploadForm
    do throws(UploadRefusal) {
      let reader = try FormReader(contentType: exchange.fields[.contentType] ?? "")
      form = UploadForm(work: work, exchange: exchange, reader: reader)
    } catch {
      throw failure(error)
    }
    return .read { body in
      var form = form
      do throws(UploadRefusal) {
        return try await form.take(&body)
      } catch {
        await work.run { [uploads = form.uploads] _ in for upload in uploads { upload.abort() } }
        return failure(error)
      }
    }
  }

  private init(work: StoreWork, exchange: Exchange, reader: FormReader) {
    self.work = work
    self.exchange = exchange
    self.reader = reader
  }

  /// The app takes text only, also for `true`.
  private static func failure(_ refusal: UploadRefusal) -> Answer {
    .json(
      refusal.kind.status, ["message": refusal.message, "error": "true"] as JSONObject,
      outcome: refusal.kind.outcome)
  }

  private mutating func take(_ body: inout BodyReader) async throws(UploadRefusal) -> Answer {
    while let piece = try await work.next(&body) {
      for event in try reader.read(piece.readableBytesView) { try await take(event) }
    }
    guard reader.isDone else {
      throw UploadRefusal(.invalid, "the form ended before its end: send it again")
    }
    guard let token else { throw UploadRefusal(.invalid, "the form has no \(Self.media)") }
    try await work.attempt { [uploads, exchange] store in
      let outcomes = try IncomingFile.finish(uploads)
      _ = try store.complete(
        token, outcomes.map { UploadStore.Declared(name: $0.name, bytes: $0.bytes) },
        sender: exchange.sender)
    }
    work.metrics.count { $0.files += uploads.count }
    return .json(
      .ok, ["message": "ok", "error": "false", "token": token] as JSONObject, outcome: "stored")
  }

  private mutating func take(_ event: FormReader.Event) async throws(UploadRefusal) {
    switch event {
    case .part(let field, let fileName):
      isInFile = Self.fields.contains(field)
      guard isInFile else { return }
      guard seen.insert(field).inserted else {
        throw UploadRefusal(.invalid, "the form has two parts \(field)")
      }
      guard let fileName else {
        throw UploadRefusal(.invalid, "the part \(field) has no file name")
      }
      let endings = work.store.limits.endings
      if field == Self.media {
        token = try UploadName(fileName: fileName, endings: endings).capture
      }
      guard let token else {
        throw UploadRefusal(.invalid, "the form has no \(Self.media) before \(field)")
      }
      let request = exchange.upload(
        of: try UploadName(capture: token, path: fileName, endings: endings))
      uploads.append(try await work.attempt { try $0.begin(request) })
    case .data(let bytes):
      guard isInFile, let upload = uploads.last else { return }
      try await work.attempt { _ in try upload.append(bytes) }
    case .end: isInFile = false
    }
  }
}

/// The body of a request, piece by piece. Used by one task.
struct BodyReader {
  private var pieces: RequestBody.AsyncIterator
  private let connection: ConnectionState
  /// Number of the request on its connection, from 1.
  private let number: Int
  private(set) var bytes: Int64 = 0
  /// Why no more comes, once what came before was handed out.
  private var failure: UploadRefusal?

  init(_ body: RequestBody, _ connection: ConnectionState, number: Int) {
    pieces = body.makeAsyncIterator()
    self.connection = connection
    self.number = number
  }

  /// The next bytes; `nil` at the end of the body. Throws when it ends before its end.
  mutating func next() async throws(UploadRefusal) -> ByteBuffer? {
    connection.with { $0.waitingSince = .now() }
    defer { connection.with { $0.waitingSince = nil } }
    let piece: ByteBuffer?
    do {
      piece = try await pieces.next()
    } catch {
      throw error as? UploadRefusal ?? .cut
    }
    if let piece {
      bytes += Int64(piece.readableBytes)
      return piece
    }
    // The library ends a body that was cut as it ends one that is whole.
    let number = number
    guard connection.with({ $0.endsSeen >= number }) else { throw .cut }
    return nil
  }

  /// The next pieces together, about `most` bytes; empty at the end. What came before a body ends too early is
  /// handed out first: a sender whose connections break again and again gets on all the same.
  mutating func next(about most: Int) async throws(UploadRefusal) -> [ByteBuffer] {
    if let failure { throw failure }
    var gathered: [ByteBuffer] = []
    var count = 0
    do throws(UploadRefusal) {
      while count < most, let piece = try await next() {
        count += piece.readableBytes
        gathered.append(piece)
      }
    } catch {
      if gathered.isEmpty { throw error }
      failure = error
    }
    return gathered
  }

  /// A small body as a whole; `nil` if it has more than `most` bytes.
  mutating func whole(atMost most: Int) async throws(UploadRefusal) -> [UInt8]? {
    var all: [UInt8] = []
    while let piece = try await next() {
      all += piece.readableBytesView
      if all.count > most { return nil }
    }
    return all
  }
}

/// One request, as far as its header tells, and what the log will say of it.
struct Exchange {
  let request: HTTPRequest
  let target: RequestTarget
  /// The address, or the name of the token with it.
  let sender: String
  var capture = ""
  var name = ""

  var fields: HTTPFields { request.headerFields }

  func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

  func values(_ name: String) -> [String] { HTTPField.Name(name).map { fields[values: $0] } ?? [] }

  /// The upload of a file for which it asks, without a length.
  func upload(of name: UploadName) -> UploadRequest {
    UploadRequest(
      name: name, sender: sender, userAgent: String((fields[.userAgent] ?? "").prefix(256)))
  }

  var isChunked: Bool { words(.transferEncoding).contains("chunked") }

  /// How the body is coded, apart from being sent in pieces; `nil` if it is not.
  var coding: String? {
    words(.contentEncoding).first { $0 != "identity" }
      ?? words(.transferEncoding).first { $0 != "chunked" }
  }

  /// Whether the client wants the connection to end behind the answer.
  var endsConnection: Bool { words(.connection).contains("close") }

  /// The words of a field that is a list, in lower case.
  private func words(_ name: HTTPField.Name) -> [String] {
    fields[values: name].joined(separator: ",").lowercased().split(separator: ",")
      .map { String($0.filter { $0 != " " && $0 != "\t" }) }.filter { !$0.isEmpty }
  }

  var expectsContinue: Bool {
    fields[.expect].map { $0.lowercased() == "100-continue" } ?? false
  }

  /// The announced length; `nil` for a body without one. Throws when there is neither a length nor
  /// chunks.
  func length() throws(Answer) -> Int64? {
    let lengths = fields[values: .contentLength]
    guard !lengths.isEmpty else {
      if isChunked { return nil }
      throw .message(.lengthRequired, "the length of the file is missing", outcome: "no length")
    }
    guard !isChunked, Set(lengths).count == 1, let length = Int64(lengths[0]), length >= 0 else {
      throw .message(.badRequest, "the length of the file is not clear", outcome: "invalid")
    }
    return length
  }
}

/// What is to be done with a request, once its header has passed all checks.
enum Plan {
  case answer(Answer)
  /// Reads the body, after `100 Continue` where the client waits for it.
  case read(@Sendable (inout BodyReader) async throws -> Answer)
}

/// Numbers of a server since its start.
final class ReceiverMetrics: Sendable {
  struct Counts {
    var bytes: Int64 = 0
    var files = 0
    var duplicates = 0
    var replaced = 0
    var verified = 0
    var mismatches = 0
    var interrupted = 0
    var rejected: [Int: Int] = [:]
    /// Requests by the first bound that their seconds do not exceed.
    var durations = [Int](repeating: 0, count: ReceiverMetrics.bounds.count + 1)
    var seconds = 0.0
  }

  static let bounds: [Double] = [0.01, 0.1, 1, 10, 60, 600, 3600]
  private let counts = Mutex(Counts())

  func count(_ change: (inout Counts) -> Void) { counts.withLock { change(&$0) } }

  func count(_ outcome: UploadOutcome) {
    count { counts in
      switch outcome.kind {
      case .identical: counts.duplicates += 1
      case .stored, .keptBoth: counts.files += 1
      case .replaced:
        counts.files += 1
        counts.replaced += 1
      }
    }
  }

  func countRefused(_ status: HTTPResponse.Status) {
    count { $0.rejected[status.code, default: 0] += 1 }
  }

  /// Counts a request that is over.
  func count(_ status: HTTPResponse.Status, bytes: Int64, seconds: Double) {
    if status.code >= 400 { countRefused(status) }
    let index = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    count {
      $0.bytes += bytes
      $0.durations[index] += 1
      $0.seconds += seconds
    }
  }

  /// The text that Prometheus reads.
  func text(captures: [String: Int], active: Int, free: Int64?) -> String {
    let counts = counts.withLock { $0 }
    var text = ""
    func metric(_ name: String, _ type: String, _ help: String, _ values: [(String, String)]) {
      text += "# HELP scanmill_receive_\(name) \(help)\n# TYPE scanmill_receive_\(name) \(type)\n"
      for (labels, value) in values { text += "scanmill_receive_\(name)\(labels) \(value)\n" }
    }
    func number(_ name: String, _ type: String, _ help: String, _ value: some BinaryInteger) {
      metric(name, type, help, [("", "\(value)")])
    }
    func table(
      _ name: String, _ type: String, _ help: String, _ label: String,
      _ values: [some Comparable & Hashable: Int]
    ) {
      metric(
        name, type, help,
        values.sorted { $0.key < $1.key }.map { ("{\(label)=\"\($0.key)\"}", "\($0.value)") })
    }
    number("bytes_total", "counter", "Bytes of bodies received.", counts.bytes)
    number("files_total", "counter", "Files stored.", counts.files)
    number("duplicates_total", "counter", "Files that were there already.", counts.duplicates)
    number("replaced_total", "counter", "Files that took the place of others.", counts.replaced)
    number("verified_total", "counter", "Verifies that matched.", counts.verified)
    number("mismatches_total", "counter", "Verifies that did not match.", counts.mismatches)
    number("interrupted_total", "counter", "Uploads that ended too early.", counts.interrupted)
    table("rejected_total", "counter", "Requests refused.", "status", counts.rejected)
    table("captures", "gauge", "Captures in the staging folder.", "state", captures)
    number("active_uploads", "gauge", "Uploads on their way.", active)
    number("free_bytes", "gauge", "Free space of the disk of the staging folder.", free ?? 0)
    var buckets: [(String, String)] = []
    var sum = 0
    for (bound, count) in zip(Self.bounds, counts.durations) {
      sum += count
      buckets.append(("_bucket{le=\"\(NumberText.plain(bound))\"}", "\(sum)"))
    }
    sum += counts.durations.last ?? 0
    buckets.append(("_bucket{le=\"+Inf\"}", "\(sum)"))
    buckets.append(("_sum", "\(counts.seconds)"))
    buckets.append(("_count", "\(sum)"))
    metric("request_seconds", "histogram", "Seconds that requests took.", buckets)
    return text
  }
}

extension NumberText {
  /// `0.01`, `10`.
  fileprivate static func plain(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))" : "\(value)"
  }
}
