import FoundationEssentials
import Geometry
import Storage

/// The JSON form of a calibration: the object that `AlignmentDocument` writes.
///
/// Every part may be absent or null. Numbers are walked one by one, so that a message can name the key
/// and the value; keys that are not known are passed over, but for those of a lens, where a misspelled
/// coefficient would quietly become 0.
enum CalibrationJSON {
  static func calibration(in text: String) throws(CalibrationProblem) -> DepthCalibration {
    let root: JSONTree
    if let problem = InputLimits.depthOfJSON.problem(BoundedJSON.depth(of: text.utf8)) {
      throw CalibrationProblem("is no calibration: it has \(problem)")
    }
    do {
      root = try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8))
    } catch {
      throw CalibrationProblem("is not valid JSON: \(error)")
    }
    guard case .object(let object) = root else { throw CalibrationProblem("is not a JSON object") }
    if let schema = object["schema"], schema != .number(1) {
      throw CalibrationProblem(
        "is not a schema this version reads", key: "schema", value: "\(schema)")
    }
    var calibration = DepthCalibration(registered: try registered(object["registered"]))
    if let matrix = try numbers(object["colorFromDepth"], key: "colorFromDepth", count: 16) {
      calibration.colorFromDepth = RigidTransform(rowMajor: matrix)
    }
    calibration.depthIntrinsics = try camera(object["depthIntrinsics"], key: "depthIntrinsics")
    calibration.colorIntrinsics = try camera(object["colorIntrinsics"], key: "colorIntrinsics")
    if let lenses = try members(object["distortion"], key: "distortion") {
      calibration.depthDistortion = try lens(lenses["depth"], key: "distortion.depth")
      calibration.colorDistortion = try lens(lenses["color"], key: "distortion.color")
    }
    return calibration
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
    let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]
    if let unknown = members.keys.sorted().first(where: { !names.contains($0) }) {
      throw CalibrationProblem(
        "is no lens coefficient: \(names.joined(separator: ", "))", key: "\(key).\(unknown)")
    }
    var list: [Double] = []
    for name in names {
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
    case nil: throw CalibrationProblem("is missing", key: key)
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
