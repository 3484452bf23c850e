import HTTPTypes
import NIOCore
import Core

/// The form of the Strabo SDK: four files of one capture in one request. All are kept, or none.
struct FormRoute: Sendable {
  let store: UploadStore
  let work: FileWork
  let metrics: ReceiverMetrics
  private static let media = "media_file"
  private static let fields: Set<String> = [media, "thumbnail", "capture_info", "geo_data"]

  func plan(_ exchange: inout Exchange) throws(AnswerError) -> Plan {
    let sender = exchange.sender
    let userAgent = exchange.userAgent
    let reader: FormReader
    _ = try exchange.length()
    do throws(FormReader.FormError) {
      reader = try FormReader(contentType: exchange.fields[.contentType] ?? "")
    } catch {
      throw AnswerError(Self.failure(UploadRefusal(.invalid, error.problem)))
    }
    return .read { body in
      var form = Form(reader: reader, route: self, sender: sender, userAgent: userAgent)
      do throws(UploadRefusal) {
        return try await form.take(&body)
      } catch {
        await form.abort()
        return Self.failure(error)
      }
    }
  }

  /// The app takes text only, also for `true`.
  private static func failure(_ refusal: UploadRefusal) -> Answer {
    .json(
      refusal.kind.status, Answer.Message(message: refusal.message, error: "true"),
      outcome: refusal.kind.outcome, closes: true)
  }

  /// A form that is being read.
  private struct Form {
    var reader: FormReader
    let route: FormRoute
    let sender: String
    let userAgent: String
    var token: String?
    var uploads: [IncomingFile] = []
    /// Fields that have come. Each part holds a file open.
    var seen: Set<String> = []
    /// Whether the part that is being read is kept.
    var isInFile = false

    mutating func take(_ body: inout BodyReader) async throws(UploadRefusal) -> Answer {
      while true {
        let piece: ByteBuffer?
        do throws(BodyError) {
          piece = try await body.next()
        } catch {
          route.metrics.count { $0.interrupted += 1 }
          throw UploadRefusal(error == .cut ? .invalid : .tooSlow, error.message)
        }
        guard let piece else { break }
        let events: [FormReader.Event]
        do throws(FormReader.FormError) {
          events = try reader.read(piece.readableBytesView)
        } catch {
          throw UploadRefusal(.invalid, error.problem)
        }
        for event in events { try await take(event) }
      }
      guard reader.isDone else {
        throw UploadRefusal(.invalid, "the form ended before its end: send it again")
      }
      guard let token else { throw UploadRefusal(.invalid, "the form has no \(FormRoute.media)") }
      let (store, uploads, sender) = (route.store, uploads, sender)
      try await route.work.attempt { () throws(UploadRefusal) in
        let outcomes = try IncomingFile.finish(uploads)
        _ = try store.complete(
          token, outcomes.map { UploadStore.Declared(name: $0.name, bytes: $0.bytes) },
          sender: sender)
      }
      route.metrics.count { $0.files += uploads.count }
      return .json(
        .ok, Answer.Message(message: "ok", error: "false", token: token), outcome: "stored")
    }

    private mutating func take(_ event: FormReader.Event) async throws(UploadRefusal) {
      let (store, work) = (route.store, route.work)
      switch event {
      case .part(let field, let fileName):
        isInFile = FormRoute.fields.contains(field)
        guard isInFile else { return }
        guard seen.insert(field).inserted else {
          throw UploadRefusal(.invalid, "the form has two parts \(field)")
        }
        guard let fileName else {
          throw UploadRefusal(.invalid, "the part \(field) has no file name")
        }
        if field == FormRoute.media {
          token = try UploadName(fileName: fileName, endings: store.limits.endings).capture
        }
        guard let token else {
          throw UploadRefusal(.invalid, "the form has no \(FormRoute.media) before \(field)")
        }
        let name = try UploadName(capture: token, path: fileName, endings: store.limits.endings)
        let request = UploadRequest(name: name, length: nil, sender: sender, userAgent: userAgent)
        uploads.append(
          try await work.attempt { () throws(UploadRefusal) in try store.begin(request) })
      case .data(let bytes):
        guard isInFile, let upload = uploads.last else { return }
        try await work.attempt { () throws(UploadRefusal) in try upload.append(bytes) }
      case .end: isInFile = false
      }
    }

    func abort() async {
      let uploads = uploads
      await route.work.run { for upload in uploads { upload.abort() } }
    }
  }
}
