import Core
import FoundationEssentials

/// Parses the JSON form of a calibration: the object that `DepthCalibration.document` writes.
///
/// Every part may be absent or null; `CalibrationFile.checkWhole` decides whether all required
/// parts are there. Numbers are checked one by one, so that a message can name key and value.
/// Unknown keys are ignored, except those that look like another spelling of a part or lens
/// coefficient, or one in the wrong place: ignoring them would drop the part or the lens.
enum CalibrationJSON {
  static func stated(in text: String) throws(CalibrationProblem) -> StatedCalibration {
    let root: JSONTree
    if let problem = InputLimits.depthOfJSON.problem(LooseJSON.depth(of: text.utf8)) {
      throw CalibrationProblem("is not a calibration: it has \(problem)")
    }
    do {
      root = try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8))
    } catch {
      throw CalibrationProblem("is not valid JSON: check its brackets, quotes and commas")
    }
    guard case .object(let object) = root else { throw CalibrationProblem("is not a JSON object") }
    if let key = LooseJSON.repeatedKey(in: Array(text.utf8)) {
      throw CalibrationProblem("is there twice: keep the one that is right", key: key)
    }
    if let schema = object["schema"], schema != .number(1) {
      throw CalibrationProblem(
        "is not a schema this version reads", key: "schema", value: "\(schema)")
    }
    try checkKeys(object)
    var calibration = DepthCalibration(registered: try registered(object["registered"]))
    if let matrix = try numbers(object["colorFromDepth"], key: "colorFromDepth", count: 16) {
      calibration.colorFromDepth = try CalibrationProblem.transform(matrix, key: "colorFromDepth")
      guard !calibration.registered || calibration.colorFromDepth?.isIdentity == true else {
        throw CalibrationProblem(
          "must be absent or the identity, where depth and color are one camera (registered)",
          key: "colorFromDepth", value: "\(matrix)")
      }
    }
    calibration.depthIntrinsics = try camera(object["depthIntrinsics"], key: "depthIntrinsics")
    calibration.colorIntrinsics = try camera(object["colorIntrinsics"], key: "colorIntrinsics")
    if let lenses = try members(object["distortion"], key: "distortion") {
      if let unknown = lenses.keys.sorted().first(where: { !["depth", "color"].contains($0) }) {
        throw CalibrationProblem(
          "is not a camera: write the coefficients below distortion.depth and distortion.color",
          key: "distortion.\(unknown)")
      }
      calibration.depthDistortion = try lens(lenses["depth"], key: "distortion.depth")
      calibration.colorDistortion = try lens(lenses["color"], key: "distortion.color")
    }
    return StatedCalibration(calibration, deviceID: try deviceID(in: object))
  }

  /// The device's id. Throws unless it is a text, so that it is not silently ignored.
  private static func deviceID(
    in object: [String: JSONTree]
  ) throws(CalibrationProblem) -> String? {
    let key = object.keys.sorted().first { StatedCalibration.isDeviceKey($0) }
    guard let key, let value = object[key], value != .null else { return nil }
    guard case .string(let text) = value else {
      throw CalibrationProblem(
        "must be a text: the device.id of the captures that it is for", key: key,
        value: "\(value)")
    }
    return text
  }

  private static let keys = [
    "schema", "registered", "colorFromDepth", "depthIntrinsics", "colorIntrinsics", "distortion",
  ]
  private static let coefficients = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]

  /// Throws for a key of the whole object that looks like another spelling of a known one:
  /// `distortions`, `depthDistortion`, `color_intrinsics`.
  private static func checkKeys(_ object: [String: JSONTree]) throws(CalibrationProblem) {
    if object["colorIntrinsics"] == nil, case .object = object["alignment"] {
      throw CalibrationProblem(
        "this is a whole capture.json: give the object below this key as a file of its own "
          + "(jq .alignment capture.json)", key: "alignment")
    }
    let beginnings = ["dist", "depth", "color", "regist", "extrin", "intrin", "lens"]
    let odd = object.keys.sorted().first { key in
      !keys.contains(key) && beginnings.contains { key.lowercased().hasPrefix($0) }
    }
    if let odd {
      throw CalibrationProblem(
        "is not a key of a calibration: \(keys.joined(separator: ", "))", key: odd)
    }
  }

  private static func registered(_ value: JSONTree?) throws(CalibrationProblem) -> Bool {
    switch value {
    case nil, .null: return false
    case .bool(let value): return value
    case let value?:
      throw CalibrationProblem("must be true or false", key: "registered", value: "\(value)")
    }
  }

  private static func camera(
    _ value: JSONTree?, key: String
  ) throws(CalibrationProblem) -> PinholeCamera? {
    guard let members = try members(value, key: key) else { return nil }
    let lens = members.keys.sorted().first {
      coefficients.contains($0) || $0.lowercased().hasPrefix("dist")
    }
    if let lens {
      let camera = key == "depthIntrinsics" ? "depth" : "color"
      throw CalibrationProblem(
        "is not read here: write lens coefficients below distortion.\(camera)",
        key: "\(key).\(lens)")
    }
    func side(_ name: String) throws(CalibrationProblem) -> Int {
      let number = try number(members[name], key: "\(key).\(name)")
      guard let side = Int(exactly: number) else {
        throw CalibrationProblem(
          "must be a whole number of pixels", key: "\(key).\(name)", value: "\(number)")
      }
      return side
    }
    return PinholeCamera(
      width: try side("width"), height: try side("height"),
      fx: try number(members["fx"], key: "\(key).fx"),
      fy: try number(members["fy"], key: "\(key).fy"),
      cx: try number(members["cx"], key: "\(key).cx"),
      cy: try number(members["cy"], key: "\(key).cy"))
  }

  private static func lens(
    _ value: JSONTree?, key: String
  ) throws(CalibrationProblem) -> LensDistortion {
    guard let members = try members(value, key: key) else { return .none }
    if let unknown = members.keys.sorted().first(where: { !coefficients.contains($0) }) {
      throw CalibrationProblem(
        "is not a lens coefficient: write \(coefficients.joined(separator: ", "))",
        key: "\(key).\(unknown)")
    }
    var list: [Double] = []
    for name in coefficients {
      let isThere = members[name] != nil && members[name] != .null
      list.append(isThere ? try number(members[name], key: "\(key).\(name)") : 0)
    }
    return LensDistortion(openCVOrder: list)
  }

  private static func members(
    _ value: JSONTree?, key: String
  ) throws(CalibrationProblem) -> [String: JSONTree]? {
    switch value {
    case nil, .null: return nil
    case .object(let members): return members
    case let value?: throw CalibrationProblem("must be an object", key: key, value: "\(value)")
    }
  }

  private static func numbers(
    _ value: JSONTree?, key: String, count: Int
  ) throws(CalibrationProblem) -> [Double]? {
    switch value {
    case nil, .null: return nil
    case .array(let items) where items.count == count:
      var list: [Double] = []
      for (index, item) in items.enumerated() {
        list.append(try number(item, key: "\(key)[\(index)]"))
      }
      return list
    case let value?:
      throw CalibrationProblem("must be \(count) numbers", key: key, value: "\(value)")
    }
  }

  private static func number(
    _ value: JSONTree?, key: String
  ) throws(CalibrationProblem) -> Double {
    switch value {
    case .number(let number): return number
    case nil: throw CalibrationProblem("is missing: add it, in pixels", key: key)
    case let value?: throw CalibrationProblem("must be a number", key: key, value: "\(value)")
    }
  }
}

/// Any JSON value.
private indirect enum JSONTree: Decodable, Equatable, CustomStringConvertible {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONTree])
  case object([String: JSONTree])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let items = try? value.decode([JSONTree].self) {
      self = .array(items)
    } else {
      self = .object(try value.decode([String: JSONTree].self))
    }
  }

  var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .array(let items): "[\(items.map(\.description).joined(separator: ", "))]"
    case .object: "{…}"
    }
  }
}
