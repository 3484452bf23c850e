import Core
import FoundationEssentials
import SystemPackage

/// Reads whole small files.
enum ARKitScannerSideFile {
  /// The bytes of a file; errors name it.
  static func bytes(of file: FilePath) throws(CaptureError) -> Data {
    TextBytes.utf8(
      Data(
        try CaptureError.naming(
          file, try InputFile(file).whole(limit: InputLimits.bytesOfJSON))))
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
      guard let closed = LooseJSON.closed(data), let value = try? json(type, from: closed, of: file)
      else { throw error }
      return (value, true)
    }
  }

  private static func json<Value: Decodable>(
    _ type: Value.Type, from data: Data, of file: FilePath
  ) throws(CaptureError) -> Value {
    do {
      return try LooseJSON.decode(type, from: data, of: file)
    } catch let error as FileError {
      throw CaptureError(file: file, problem: error.reason)
    } catch {
      // The nesting depth was checked above.
      if let quoted = LooseJSON.quoted(data),
        let value = try? LooseJSON.pythonDecoder.decode(type, from: quoted)
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
    guard let number = LooseJSON.number(text) else {
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
