import Testing

@testable import Receiving

@Suite("The form of the Strabo SDK")
struct FormReaderTests {
  static let boundary = "0xKhTmLbOuNdArY"
  static func part(_ name: String, _ file: String, _ content: String) -> String {
    "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file)\"\r\n"
      + "Content-Type: application/octet-stream\r\n\r\n\(content)\r\n"
  }

  private func parts(_ pieces: [[UInt8]]) throws -> (parts: [String: String], isDone: Bool) {
    var reader = try FormReader(contentType: "multipart/form-data; boundary=\(Self.boundary)")
    var found: [String: String] = [:]
    var current: String?
    var content: [UInt8] = []
    for piece in pieces {
      for event in try reader.read(piece) {
        switch event {
        case .part(let name, let file):
          current = "\(name) \(file ?? "-")"
          content = []
        case .data(let bytes): content += bytes
        case .end:
          if let current { found[current] = String(decoding: content, as: UTF8.self) }
        }
      }
    }
    return (found, reader.isDone)
  }

  @Test func piecesMayEndAnywhere() throws {
    let form = Array(
      (Self.part("media_file", "t.mov", "a\r\n--0xKh\r\n-b") + Self.part("thumbnail", "t.png", "")
        + "--\(Self.boundary)--\r\n").utf8)
    let expected = ["media_file t.mov": "a\r\n--0xKh\r\n-b", "thumbnail t.png": ""]
    for cut in 0...form.count {
      let result = try parts([Array(form[..<cut]), Array(form[cut...])])
      #expect(result.parts == expected, "cut at \(cut)")
      #expect(result.isDone)
    }
    #expect(try parts(form.map { [$0] }).parts == expected)
  }

  @Test func aFormThatIsCutIsNotDone() throws {
    let form = Array((Self.part("media_file", "t.mov", "x") + "--\(Self.boundary)--").utf8)
    for cut in 0..<form.count { #expect(try !parts([Array(form[..<cut])]).isDone) }
  }

  @Test(arguments: [
    "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
  ])
  func aFormNeedsABoundary(_ type: String) {
    #expect(throws: FormReader.FormError.self) { _ = try FormReader(contentType: type) }
  }

  @Test func randomBytesNeverCrash() throws {
    var generator = SystemRandomNumberGenerator()
    let seed = Array((Self.part("a", "b", "c") + "--\(Self.boundary)--").utf8)
    for _ in 0..<500 {
      var bytes = seed
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255)
      }
      var reader = try FormReader(contentType: "multipart/form-data; boundary=\(Self.boundary)")
      _ = try? reader.read(bytes)
    }
  }
}
