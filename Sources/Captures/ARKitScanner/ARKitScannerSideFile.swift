import Core
import FoundationEssentials
import SystemPackage

/// Reads whole small files.
enum ARKitScannerSideFile {
  /// The bytes of a file; errors name it.
  static func bytes(of file: FilePath) throws(CaptureError) -> Data {
    do throws(FileError) {
      return TextBytes.utf8(Data(try InputFile(file).whole(limit: InputLimits.bytesOfJSON)))
    } catch {
      throw CaptureError(error, of: file)
    }
  }

  /// Decodes a JSON file. Python's `NaN` and `Infinity` are accepted.
  static func json<Value: Decodable>(
    _ type: Value.Type, from file: FilePath
  ) throws(CaptureError) -> Value {
    try json(type, from: bytes(of: file), of: file)
  }

  /// Decodes an object with one entry per frame; of a cut file, the complete entries.
  static func entries<Value: Decodable>(
    _ type: Value.Type, from file: FilePath
  ) throws(CaptureError) -> (value: Value, isCut: Bool) {
    let data = try bytes(of: file)
    do {
      return (try json(type, from: data, of: file), false)
    } catch {
      guard let closed = CutJSON.closed(data), let value = try? json(type, from: closed, of: file)
      else { throw error }
      return (value, true)
    }
  }

  private static func json<Value: Decodable>(
    _ type: Value.Type, from data: Data, of file: FilePath
  ) throws(CaptureError) -> Value {
    do {
      return try BoundedJSON.decode(type, from: data, of: file)
    } catch let error as FileError {
      throw CaptureError(file: file, problem: error.reason)
    } catch {
      // The nesting depth was checked above.
      if let quoted = PythonJSON.quoted(data),
        let value = try? PythonJSON.decoder().decode(type, from: quoted)
      {
        return value
      }
      throw CaptureError(
        file: file, problem: "\(reason(error)) (\(data.count) bytes)",
        remedy: "copy the file from the device again")
    }
  }

  /// The single number in a text file.
  static func number(from file: FilePath) throws(CaptureError) -> [Double] {
    let text = String(decoding: try bytes(of: file).prefix(256), as: UTF8.self)
    guard let number = NumberList.number(text) else {
      throw CaptureError(file: file, problem: "holds no number")
    }
    return [number]
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.dataCorrupted: "not valid JSON"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "\(context.debugDescription) At: \(context.codingPath.map(\.stringValue).joined(separator: "."))"
    default: "\(error)"
    }
  }
}

/// Reads JSON as Python's `json` writes it: with the bare words `NaN`, `Infinity` and `-Infinity`.
///
/// Foundation's own JSON5 reader is not used, because it traps on keys that are not UTF-8, and on
/// some numbers (seen with Swift 6.3).
enum PythonJSON {
  /// The document with each such word outside strings quoted, which `decoder` reads as a number;
  /// `nil` when it has none. Cost: one pass.
  static func quoted(_ document: Data) -> Data? {
    var result = Data(capacity: document.count + 256)
    var copied = 0
    document.withUnsafeBytes { bytes in
      for token in JSONTokens(bytes) where token.kind == .word {
        let word = bytes[token.range]
        guard words.contains(where: { word.elementsEqual($0) }) else { continue }
        result.append(contentsOf: bytes[copied..<token.range.lowerBound])
        result.append(UInt8(ascii: "\""))
        result.append(contentsOf: word)
        result.append(UInt8(ascii: "\""))
        copied = token.range.upperBound
      }
      if copied > 0 { result.append(contentsOf: bytes[copied...]) }
    }
    return copied > 0 ? result : nil
  }

  /// A decoder for the result of `quoted`.
  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return decoder
  }

  private static let words = ["NaN", "Infinity", "-Infinity"].map { Array($0.utf8) }
}
