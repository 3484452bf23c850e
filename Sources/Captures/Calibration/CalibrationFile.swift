import Core
import SystemPackage
import Yams

/// Reads calibration files in any of three formats, detected by content: JSON (the `alignment`
/// object of `capture.json`), the `key = value` text of a lab calibration, and a Kalibr camera
/// chain.
public enum CalibrationFile {
  /// Size limit in bytes: a calibration has some hundred numbers.
  static let largestBytes = 1 << 20

  /// Reads the calibration in a file.
  ///
  /// The sizes are those of the capture's pictures, in pixels before any turn. They identify the
  /// cameras of a Kalibr chain. A calibration for another size is returned unchanged.
  ///
  /// Throws when the file cannot be read or is malformed, when a value is impossible (a matrix that
  /// is no rotation, a focal length of 0 or less, a number that is not finite), and when a part
  /// that `need` names is missing. Other missing parts are `nil`.
  public static func read(
    _ path: FilePath, depthSize: PictureSize? = nil,
    colorSize: PictureSize? = nil, for need: CalibrationNeed = .depthAndColor
  ) throws(CalibrationError) -> DepthCalibration {
    try readStated(path, depthSize: depthSize, colorSize: colorSize, for: need).calibration
  }

  /// Reads a calibration file together with the device that it names.
  static func readStated(
    _ path: FilePath, depthSize: PictureSize?, colorSize: PictureSize?,
    for need: CalibrationNeed
  ) throws(CalibrationError) -> StatedCalibration {
    let text = try text(of: path)
    do throws(CalibrationProblem) {
      let stated = try parseStated(text, depthSize: depthSize, colorSize: colorSize)
      if let fault = stated.calibration.firstFault { throw CalibrationProblem(fault) }
      try checkWhole(stated.calibration, format(of: text), for: need)
      return stated
    } catch {
      throw error.error(in: path)
    }
  }

  /// Parses the calibration in a text of any of the formats, complete or not.
  static func parse(
    _ text: String, depthSize: PictureSize? = nil,
    colorSize: PictureSize? = nil
  ) throws(CalibrationProblem) -> DepthCalibration {
    try parseStated(text, depthSize: depthSize, colorSize: colorSize).calibration
  }

  /// Parses a calibration together with the device that the text names.
  static func parseStated(
    _ text: String, depthSize: PictureSize? = nil,
    colorSize: PictureSize? = nil
  ) throws(CalibrationProblem) -> StatedCalibration {
    switch format(of: text) {
    case .json: return try CalibrationJSON.stated(in: text)
    case .labText:
      let lab = LabCalibrationText(text)
      return StatedCalibration(try lab.calibration(), deviceID: lab.deviceID)
    case .kalibr:
      let chain = try KalibrChain(text)
      return StatedCalibration(
        try chain.calibration(depthSize: depthSize, colorSize: colorSize), deviceID: chain.deviceID)
    }
  }

  enum Format {
    case json, labText, kalibr
  }

  /// A text that starts with `{` is JSON. Otherwise the first line that is not blank or a comment
  /// decides: with `=` it is a lab text, otherwise a camera chain.
  static func format(of text: String) -> Format {
    for line in text.split(whereSeparator: \.isNewline) {
      let content = line.drop(while: \.isWhitespace)
      guard let first = content.first, first != "#" else { continue }
      if first == "{" { return .json }
      return content.contains("=") ? .labText : .kalibr
    }
    return .labText
  }

  /// The file's text, decoded from UTF-8 or UTF-16, without byte order mark.
  static func text(of path: FilePath) throws(CalibrationError) -> String {
    let file: MappedFile
    do {
      file = try MappedFile(path)
    } catch {
      throw CalibrationError(file: path, problem: error.sentence)
    }
    guard file.count <= largestBytes else {
      throw CalibrationError(
        file: path,
        problem:
          "\(file.count) bytes are too many for a calibration: name a file of at most 1 MiB, in a form of docs/calibration.md"
      )
    }
    let bytes = file.withBytes { bytes in
      (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
    guard let text = String(validating: TextBytes.utf8(bytes), as: UTF8.self) else {
      throw CalibrationError(file: path, problem: "is neither UTF-8 nor UTF-16 text")
    }
    return text
  }
}

extension CalibrationFile {
  /// Checks that a file is a complete calibration, before the capture is known. Whether its sizes
  /// fit a capture is checked when the file is used.
  public static func check(
    _ path: FilePath, for need: CalibrationNeed = .depthAndColor
  ) throws(CalibrationError) {
    let text = try text(of: path)
    do throws(CalibrationProblem) {
      let format = format(of: text)
      switch format {
      case .kalibr: _ = try KalibrChain(text)
      case .json, .labText:
        let calibration = try parse(text)
        if let fault = calibration.firstFault { throw CalibrationProblem(fault) }
        try checkWhole(calibration, format, for: need)
      }
    } catch {
      throw error.error(in: path)
    }
  }
}

/// A Kalibr camera chain: `cam0`, `cam1`, … with pinhole intrinsics, `radtan` lenses (four
/// coefficients, or up to eight in OpenCV's order), resolutions, and `T_cn_cnm1`, which maps
/// coordinates of the previous camera to those of this one, meters.
///
/// Cameras are identified by resolution alone; two with the same resolution require the JSON form.
struct KalibrChain {
  struct Camera {
    var name: String
    var pinhole: PinholeCamera
    var lens: LensDistortion
    /// From coordinates of `cam0` to those of this camera.
    var fromFirst: RigidTransform
  }

  private(set) var cameras: [Camera] = []
  /// The device that the chain names, outside of its cameras.
  let deviceID: String?

  init(_ text: String) throws(CalibrationProblem) {
    let root = try KalibrNode(document: text)
    deviceID =
      root.members.first { StatedCalibration.isDeviceKey($0.path) }?.node.scalar?.string
    var chain = RigidTransform.identity
    while let camera = root.members.first(where: { $0.path == "cam\(cameras.count)" }) {
      if !cameras.isEmpty { chain = try camera.transform("T_cn_cnm1") * chain }
      cameras.append(
        Camera(
          name: camera.path, pinhole: try Self.pinhole(camera), lens: try Self.lens(camera),
          fromFirst: chain))
    }
    guard cameras.count >= 2 else {
      throw CalibrationProblem(
        "is missing: a Kalibr camera chain has the two cameras cam0 and cam1, one of depth and one of "
          + "color", key: "cam\(cameras.count)")
    }
  }

  /// The two cameras with the capture's sizes, or, of a chain of two, the larger as color.
  func calibration(
    depthSize: PictureSize?, colorSize: PictureSize?
  ) throws(CalibrationProblem) -> DepthCalibration {
    let (depth, color) = try pair(depthSize, colorSize)
    return DepthCalibration(
      registered: false, colorFromDepth: color.fromFirst * depth.fromFirst.inverse,
      depthIntrinsics: depth.pinhole, colorIntrinsics: color.pinhole, depthDistortion: depth.lens,
      colorDistortion: color.lens)
  }

  private func pair(
    _ depthSize: PictureSize?, _ colorSize: PictureSize?
  ) throws(CalibrationProblem) -> (depth: Camera, color: Camera) {
    func matches(_ size: PictureSize?) -> [Camera] {
      cameras.filter { $0.pinhole.width == size?.width && $0.pinhole.height == size?.height }
    }
    let (depths, colors) = (matches(depthSize), matches(colorSize))
    if depths.count == 1, colors.count == 1, depths[0].name != colors[0].name {
      return (depths[0], colors[0])
    }
    let areas = cameras.map { $0.pinhole.width * $0.pinhole.height }
    if cameras.count == 2, areas[0] != areas[1] {
      return areas[0] < areas[1] ? (cameras[0], cameras[1]) : (cameras[1], cameras[0])
    }
    let sizes = cameras.map { "\($0.name) \($0.pinhole.width)×\($0.pinhole.height)" }
    throw CalibrationProblem(
      "does not tell which camera is depth and which is color: give the calibration as JSON",
      key: "resolution", value: sizes.joined(separator: ", "))
  }

  private static func pinhole(_ camera: KalibrNode) throws(CalibrationProblem) -> PinholeCamera {
    // Kalibr's own files have this key. No other model with these four numbers is supported.
    if camera.has("camera_model") { try camera.expect("camera_model", oneOf: ["pinhole"]) }
    let size = try camera.numbers("resolution", counts: 2...2)
    guard let width = Int(exactly: size[0]), let height = Int(exactly: size[1]) else {
      throw camera.problem("resolution", "must be two whole numbers of pixels")
    }
    let focal = try camera.numbers("intrinsics", counts: 4...4)
    let pinhole = PinholeCamera(
      width: width, height: height, fx: focal[0], fy: focal[1], cx: focal[2], cy: focal[3])
    let (sizeKey, focalKey) = ("\(camera.path).resolution", "\(camera.path).intrinsics")
    try CalibrationProblem.check(
      pinhole,
      keys: [
        "width": sizeKey + "[0]", "height": sizeKey + "[1]", "fx": focalKey + "[0]",
        "fy": focalKey + "[1]", "cx": focalKey + "[2]", "cy": focalKey + "[3]",
      ])
    return pinhole
  }

  private static func lens(_ camera: KalibrNode) throws(CalibrationProblem) -> LensDistortion {
    let model = try camera.expect("distortion_model", oneOf: ["radtan", "none"])
    guard model == "radtan" else { return .none }
    return LensDistortion(openCVOrder: try camera.numbers("distortion_coeffs", counts: 4...8))
  }
}

/// A mapping in a file of Kalibr, such as one camera, with its path for messages.
struct KalibrNode {
  /// Empty for the document.
  let path: String
  let node: Node
}

extension KalibrNode {
  /// The whole of a text.
  init(document text: String) throws(CalibrationProblem) {
    if let problem = InputLimits.problem(inYAML: text) {
      throw CalibrationProblem("is not a camera chain: it has \(problem)")
    }
    let root: Node?
    do {
      // OpenCV's first line, `%YAML:1.0`, is not YAML. It becomes a comment, which keeps the line
      // numbers.
      root = try Yams.compose(yaml: text.hasPrefix("%YAML:") ? "#" + text : text)
    } catch {
      throw CalibrationProblem("is neither JSON, `key = value` text nor valid YAML: \(error)")
    }
    guard let root, case .mapping = root else {
      throw CalibrationProblem(
        "is neither JSON, `key = value` text nor a file of Kalibr (docs/calibration.md shows each)")
    }
    self.init(path: "", node: root)
  }

  /// The members of the document, by name.
  var members: [KalibrNode] {
    (node.mapping ?? [:]).compactMap { key, value in
      key.string.map { KalibrNode(path: $0, node: value) }
    }
  }

  func problem(_ key: String, _ text: String) -> CalibrationProblem {
    let value = child(key)
    return CalibrationProblem(
      value == nil ? "is missing: it \(text)" : text, key: path.isEmpty ? key : "\(path).\(key)",
      value: value.map(Self.text),
      line: (value ?? node).mark?.line)
  }

  /// The text of a key; throws unless it is one of `values`.
  @discardableResult
  func expect(_ key: String, oneOf values: [String]) throws(CalibrationProblem) -> String {
    guard let text = child(key)?.scalar?.string, values.contains(text) else {
      throw problem(key, "must be \(values.joined(separator: " or ")): nothing else is supported")
    }
    return text
  }

  func has(_ key: String) -> Bool { child(key) != nil }

  /// The list of numbers of a key.
  func numbers(_ key: String, counts: ClosedRange<Int>) throws(CalibrationProblem) -> [Double] {
    let items = child(key)?.sequence.map(Array.init) ?? []
    let numbers = items.map(Self.number)
    guard counts.contains(items.count), !numbers.contains(nil) else {
      throw problem(key, "must be a list of \(counts.lowerBound) finite numbers")
    }
    return numbers.compactMap { $0 }
  }

  /// The number of a key; `nil` without the key.
  func number(_ key: String, in range: ClosedRange<Double>) throws(CalibrationProblem) -> Double? {
    guard let value = child(key) else { return nil }
    guard let number = Self.number(value), range.contains(number) else {
      throw problem(key, "must be a number, \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A matrix of four rows that is a rotation and a translation.
  func transform(_ key: String) throws(CalibrationProblem) -> RigidTransform {
    let rows = child(key)?.sequence.map(Array.init) ?? []
    let numbers = rows.flatMap { $0.sequence.map { $0.map(Self.number) } ?? [nil] }
    guard rows.count == 4, numbers.count == 16, !numbers.contains(nil),
      let transform = RigidTransform(rowMajor: numbers.compactMap { $0 })
    else { throw problem(key, "must be four rows of four numbers") }
    guard RigidTransform.hasUsualLastRow(numbers.compactMap { $0 }) else {
      throw problem(key, "must have the last row 0 0 0 1: write the matrix row by row")
    }
    if let fault = DepthCalibration(registered: false, colorFromDepth: transform).firstFault {
      throw problem(key, "must be \(fault.rule)")
    }
    return transform
  }

  private func child(_ key: String) -> Node? { node.mapping?[Node(key)] }

  private static func number(_ node: Node) -> Double? {
    (node.float ?? node.int.map(Double.init)).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Text for messages: a scalar, or a list of scalars. Deeper values are left out, because aliases
  /// can make them infinite.
  private static func text(_ node: Node) -> String {
    switch node {
    case .scalar(let scalar): scalar.string
    case .sequence(let items):
      "[\(items.prefix(16).map { $0.scalar?.string ?? "…" }.joined(separator: ", "))]"
    default: "…"
    }
  }
}

/// The content of a calibration file: the cameras, and the device that they belong to.
public struct StatedCalibration: Hashable, Sendable {
  public var calibration: DepthCalibration
  /// The value of `deviceId` in the file; `nil` if it has none.
  var deviceID: String?

  init(_ calibration: DepthCalibration, deviceID: String? = nil) {
    self.calibration = calibration
    self.deviceID = deviceID.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether a key names the device: `deviceId` as in ScanNet's metadata, `deviceID`, `device_id`.
  static func isDeviceKey(_ key: some StringProtocol) -> Bool {
    key.lowercased().filter { $0 != "_" } == "deviceid"
  }

  /// The device id in a file's name: a stem that is a UUID, or at least 16 hexadecimal digits, as
  /// on Android and iOS. `nil` for names like `lab` or `bench-3`.
  static func deviceID(inNameOf file: FilePath) -> String? {
    guard let stem = file.stem else { return nil }
    let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ $0.allSatisfy(\.isHexDigit) }) else { return nil }
    let lengths = parts.map(\.count)
    let isID =
      lengths == [8, 4, 4, 4, 12] || lengths == [8, 16] || lengths.count == 1 && lengths[0] >= 16
    return isID ? stem : nil
  }
}
