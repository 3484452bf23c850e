import FoundationEssentials
import Core

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
