import Core
import FoundationEssentials
import SystemPackage

/// The content of `capture-info.json`.
struct StraboInfo {
  static let file = "capture-info.json"
  private static let knownKeys: Set<String> = [
    "media_type", "token", "title", "created_at", "uploaded_at", "coords", "heading", "orientation",
    "media_file", "geodata_file", "thumbnail_file",
    // In copies merged by the server.
    "points",
  ]

  enum MediaType: String {
    case video, image
  }

  /// The media type that the app states; the content of the file decides.
  let mediaType: MediaType?
  let token: String?
  let title: String?
  /// Unix seconds: for a video the end of the recording, for an image its time.
  let createdAt: Double?
  /// First position in degrees; `nil` when absent, out of range or [0, 0].
  let coordinates: (latitude: Double, longitude: Double)?
  /// First true heading in degrees, 0…360.
  let heading: Double?
  /// Keys of the object that this reader does not know.
  let unknownKeys: [String]
  /// Keys that every capture has and this one lacks.
  let missingKeys: [String]
  private let values: [String: StraboValue]

  /// Reads the description of `folder`. Throws when it is not a JSON object.
  init(_ folder: FilePath) throws(CaptureError) {
    let path = folder.appending(Self.file)
    let values: [String: StraboValue]
    do {
      // Copies merged by the server contain the points as well.
      let bytes = try InputFile(path).whole(limit: InputLimits.bytesOfDescription)
      values = try LooseJSON.decode(
        [String: StraboValue].self, from: TextBytes.utf8(bytes), of: path)
    } catch let error as FileError {
      throw CaptureError(error, of: path)
    } catch {
      throw CaptureError(
        file: path, problem: "not a JSON object: \(StraboInfo.reason(error))",
        remedy: "copy the capture again; the app itself does not check whether copying worked")
    }
    self.values = values
    mediaType = values["media_type"]?.text.flatMap(MediaType.init)
    token = values["token"]?.text.flatMap { $0.isEmpty ? nil : $0 }
    title = values["title"]?.text
    // The app writes values below 500 for an unknown time.
    createdAt = values["created_at"]?.number.flatMap { (500..<1e11).contains($0) ? $0 : nil }
    coordinates = values["coords"]?.coordinates.flatMap { latitude, longitude in
      let isNull = latitude == 0 && longitude == 0
      return abs(latitude) <= 90 && abs(longitude) <= 180 && !isNull ? (latitude, longitude) : nil
    }
    heading = values["heading"]?.number.flatMap { (0...360).contains($0) ? $0 : nil }
    unknownKeys = values.keys.filter { !Self.knownKeys.contains($0) }.sorted()
    missingKeys = ["media_type", "token"].filter { values[$0]?.isNull ?? true }
  }

  /// The path of a key; `nil` for an absent key.
  func path(_ key: StraboFileKey) -> String? { values[key.rawValue]?.text }

  /// Whether the object has the keys by which a capture is recognized.
  var isCapture: Bool { values["media_type"] != nil || values["geodata_file"] != nil }

  /// `v1`: a SHA-256 as token, and paths that include a folder.
  var generation: String {
    let paths = StraboFileKey.allCases.compactMap(path)
    let isDigest =
      token.map { $0.utf8.count == 64 && $0.utf8.allSatisfy(Self.isLowerHex) } ?? false
    return isDigest && !paths.isEmpty && paths.allSatisfy { $0.utf8.contains(UInt8(ascii: "/")) }
      ? "v1" : "v0"
  }

  private static func isLowerHex(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  static func reason(_ error: any Error) -> String {
    switch error as? DecodingError {
    case .dataCorrupted(let context)?, .typeMismatch(_, let context)?,
      .keyNotFound(_, let context)?, .valueNotFound(_, let context)?:
      context.debugDescription
    default: "\(error)"
    }
  }
}

/// The keys of `capture-info.json` that name files.
enum StraboFileKey: String, CaseIterable {
  case media = "media_file"
  case geo = "geodata_file"
  case thumbnail = "thumbnail_file"
}

extension StraboValue {
  var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

/// A value of the app's JSON, in which numbers are sometimes written as text.
enum StraboValue: Decodable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([StraboValue])
  case object

  init(from decoder: any Decoder) throws {
    if var list = try? decoder.unkeyedContainer() {
      var values: [StraboValue] = []
      while !list.isAtEnd { values.append(try list.decode(StraboValue.self)) }
      self = .list(values)
      return
    }
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else {
      self = .object
    }
  }

  /// A finite number, also if written as text.
  var number: Double? {
    switch self {
    case .number(let number): number
    case .text(let text): StraboNumber.value(text)
    case .null, .flag, .list, .object: nil
    }
  }

  /// A text, also if a whole number is written without quotes.
  var text: String? {
    switch self {
    case .text(let text): text
    case .number(let number): Int64(exactly: number).map(String.init)
    case .null, .flag, .list, .object: nil
    }
  }

  /// At least two numbers: latitude, longitude.
  var coordinates: (latitude: Double, longitude: Double)? {
    guard case .list(let list) = self, list.count >= 2, let latitude = list[0].number,
      let longitude = list[1].number
    else { return nil }
    return (latitude, longitude)
  }
}

/// Parses numbers of the app's JSON.
enum StraboNumber {
  /// The finite decimal number in a text.
  static func value(_ text: String) -> Double? {
    let trimmed = text.drop { $0 == " " }
    guard trimmed.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }),
      let value = Double(trimmed), value.isFinite
    else { return nil }
    return value
  }

  /// Seconds as decimal text or number, rounded to nanoseconds, without a binary floating-point
  /// number for up to 38 digits.
  static func seconds(_ value: any SingleValueDecodingContainer) -> Timestamp? {
    if let decimal = try? value.decode(Decimal.self) {
      return Timestamp(decimalSeconds: decimal.description)
    }
    if let number = try? value.decode(Double.self) { return Timestamp(exactSeconds: number) }
    guard let text = try? value.decode(String.self) else { return nil }
    return Timestamp(decimalSeconds: text.drop { $0 == " " })
  }
}
