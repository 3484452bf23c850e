import CCurl
import Core
import SystemPackage
import Glibc

/// Requests to a receiver, one after the other.
final class ReceiverClient {
  struct Reply {
    /// 0: there was none.
    var status: Int
    var location: String?
    var offset: Int64?
    var body: [UInt8]
    /// Why there was no answer.
    var problem: String
    var isUnreachable: Bool

    /// The body, if the receiver answers as it does to a sender.
    var answer: ReceiverAnswer? { try? ReceiverAnswer(json: body) }

    /// What the receiver says to people.
    var message: String {
      if status == 0 { return problem }
      return answer?.message.map { "\(status): \($0.onOneLine)" } ?? "status \(status)"
    }
  }

  enum Body {
    case none
    case bytes([UInt8])
    /// A part of a file.
    case file(descriptor: Int32, offset: Int64, length: Int64)
  }

  let address: ReceiverAddress
  private let client: OpaquePointer

  private static let mostOfBody = 64 << 20
  private static let stallSeconds = 60

  /// `nil` without memory.
  init?(_ address: ReceiverAddress) {
    guard let client = curl_client_new(Self.mostOfBody, Self.stallSeconds) else { return nil }
    self.client = client
    self.address = address
  }

  deinit { curl_client_free(client) }

  /// - Parameters:
  ///   - url: whole, or behind the address of the receiver.
  ///   - onProgress: called with the number of bytes of the body that were sent.
  func run(
    _ method: String, _ url: String, fields: [String] = [], _ body: Body = .none,
    onProgress: @escaping (Int64) -> Void = { _ in }
  ) -> Reply {
    var lines = fields + ["User-Agent: scanmill-send", "Expect:"]
    if let token = address.token { lines.append("Authorization: Bearer \(token)") }
    if case .file = body { lines.append("Content-Type: application/offset+octet-stream") }
    let whole = url.contains("://") ? url : address.base + url
    let box = ProgressBox(onProgress)
    var request = curl_request()
    request.length = -1
    request.file = -1
    request.context = Unmanaged.passUnretained(box).toOpaque()
    request.progress = { context, sent in
      if let context { Unmanaged<ProgressBox>.fromOpaque(context).takeUnretainedValue().call(sent) }
      return 0
    }
    let pointers = (lines + [method, whole]).map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    let headers = pointers.prefix(lines.count).map { UnsafePointer($0) }
    guard let methodPointer = pointers[lines.count], let urlPointer = pointers[lines.count + 1]
    else {
      return Reply(status: 0, body: [], problem: "no memory", isUnreachable: false)
    }
    request.method = UnsafePointer(methodPointer)
    request.url = UnsafePointer(urlPointer)
    request.header_count = headers.count
    return withExtendedLifetime(box) {
      headers.withUnsafeBufferPointer { headers in
        request.headers = headers.baseAddress
        switch body {
        case .none: return perform(&request)
        case .bytes(let bytes):
          return bytes.withUnsafeBytes { raw in
            request.bytes = raw.baseAddress ?? UnsafeRawPointer(urlPointer)
            request.length = Int64(raw.count)
            return perform(&request)
          }
        case .file(let descriptor, let offset, let length):
          (request.file, request.offset, request.length) = (descriptor, offset, length)
          return perform(&request)
        }
      }
    }
  }

  private func perform(_ request: inout curl_request) -> Reply {
    curl_client_run(client, &request)
    return Reply(
      status: request.status, location: request.location.map { String(cString: $0) },
      offset: request.upload_offset >= 0 ? request.upload_offset : nil,
      body: request.body.map {
        Array(UnsafeRawBufferPointer(start: $0, count: request.body_count))
      } ?? [],
      problem: request.problem.map { String(cString: $0) } ?? "",
      isUnreachable: request.is_unreachable != 0)
  }

  private final class ProgressBox {
    let call: (Int64) -> Void
    init(_ call: @escaping (Int64) -> Void) { self.call = call }
  }
}

/// What the receiver says of a capture, in JSON; each answer has some of it.
struct ReceiverAnswer: Decodable {
  var message: String?
  /// What it has of the capture.
  var files: [SentFile]?
  /// Names of a list that it has not, or with other content.
  var missing: [String]?
  var different: [String]?
}

/// Where the receiver is, and the token that it wants.
struct ReceiverAddress {
  /// `http://HOST:8000` and the path behind it, without a slash at the end.
  let base: String
  /// `http://HOST:8000`.
  private let origin: String
  let token: String?

  init(_ text: String, tokenFile: String?) throws(SendError) {
    var base = text
    while base.hasSuffix("/") { base.removeLast() }
    let lowercase = base.lowercased()
    guard let scheme = ["http://", "https://"].first(where: { lowercase.hasPrefix($0) }),
      base.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 })
    else {
      throw .refused("--to \(text.onOneLine): an address such as http://HOST:8000")
    }
    let host = base.dropFirst(scheme.utf8.count).prefix { $0 != "/" }
    guard !host.isEmpty else {
      throw .refused("--to \(text.onOneLine): names no host")
    }
    let origin = String(base.prefix(scheme.utf8.count)) + host
    // The receiver takes several slashes for one, too.
    self.base =
      origin + base.dropFirst(origin.count).split(separator: "/").map { "/" + $0 }.joined()
    self.origin = origin
    token = try tokenFile.map(Self.token)
  }

  /// The whole address that a `Location` gives; `nil` if it does not lie below `base`: the token is for no other place.
  func below(_ location: String) -> String? {
    let whole = location.hasPrefix("/") ? origin + location : location
    let path = whole.dropFirst(origin.count)
    guard whole.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }),
      whole.prefix(origin.count).lowercased() == origin.lowercased(),
      path.hasPrefix(base.dropFirst(origin.count) + "/"),
      !path.lowercased().replacing("%2e", with: ".").split(separator: "/")
        .contains(where: { $0 == "." || $0 == ".." })
    else { return nil }
    return whole
  }

  /// Reads the token from a file that holds it alone, or lines `name token` of which the first counts.
  private static func token(at path: String) throws(SendError) -> String {
    let text: String?
    do throws(FileError) {
      let file = try InputFile(FilePath(path))
      text =
        file.count <= 1 << 16 ? String(validating: try file.head(file.count), as: UTF8.self) : nil
    } catch {
      throw .unreadable("--token-file: \(error)")
    }
    for line in (text ?? "").split(whereSeparator: \.isNewline) {
      let words = line.split(separator: " ")
      guard let token = words.last, !line.hasPrefix("#") else { continue }
      guard words.count <= 2, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { break }
      return String(token)
    }
    throw .unreadable("--token-file \(path.onOneLine): holds no token")
  }
}
