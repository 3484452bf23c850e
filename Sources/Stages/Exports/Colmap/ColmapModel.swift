import Core

/// A camera of a COLMAP model.
struct ColmapCamera: Hashable {
  /// Camera models with COLMAP's numbers and names; parameters are in its order.
  enum Model: Int32 {
    /// fx fy cx cy
    case pinhole = 1
    /// fx fy cx cy k1 k2 p1 p2
    case openCV = 4
    /// fx fy cx cy k1 k2 p1 p2 k3 k4 k5 k6
    case fullOpenCV = 6

    var name: String {
      switch self {
      case .pinhole: "PINHOLE"
      case .openCV: "OPENCV"
      case .fullOpenCV: "FULL_OPENCV"
      }
    }
  }

  var model: Model
  var width: Int
  var height: Int
  /// Pixels; the principal point is relative to the corner of the corner pixel.
  var parameters: [Double]

  /// Chooses the smallest model without loss: coefficients after p2 are never dropped.
  init(_ camera: PinholeCamera, _ lens: LensDistortion?) {
    width = camera.width
    height = camera.height
    let center = camera.cornerPrincipalPoint
    parameters = [camera.fx, camera.fy, center.x + 0, center.y + 0]
    guard let lens, !lens.isNone else {
      model = .pinhole
      return
    }
    let coefficients = lens.openCVOrder.map { $0 + 0 }
    model = coefficients.dropFirst(4).allSatisfy { $0 == 0 } ? .openCV : .fullOpenCV
    parameters += model == .openCV ? Array(coefficients.prefix(4)) : coefficients
  }
}

/// A picture of a COLMAP model with its world-to-camera transform.
struct ColmapImage {
  /// Id, from 1.
  var id: Int
  /// w ≥ 0.
  var rotation: Quaternion
  /// Meters. This is not the camera's position.
  var translation: [Double]
  /// Camera id, from 1.
  var camera: Int
  /// Name relative to `images/`.
  var name: String

  init(id: Int, _ pose: Pose, camera: Int, name: String) {
    self.id = id
    rotation = pose.cameraFromWorldOrientation
    translation = pose.cameraFromWorld.translation.map { $0 + 0 }
    self.camera = camera
    self.name = name
  }
}

/// The cameras of a model, and the camera of each picture.
struct ColmapCameras {
  /// The camera with id n is at index n - 1; in order of appearance.
  let cameras: [ColmapCamera]
  /// Id of the camera of each exported frame.
  let ids: [Int]
  /// The common camera; `nil` if there is one for each distinct set of values.
  let common: CommonCamera?

  /// - Parameter one: the common camera; `nil` for one camera per distinct set of values.
  init(_ cameras: [PinholeCamera], _ lens: LensDistortion?, one: CommonCamera?) {
    common = one
    if let one {
      self.cameras = [ColmapCamera(one.camera, lens)]
      ids = cameras.map { _ in 1 }
      return
    }
    var distinct: [ColmapCamera] = []
    var idOf: [ColmapCamera: Int] = [:]
    ids = cameras.map { camera in
      let camera = ColmapCamera(camera, lens)
      if let id = idOf[camera] { return id }
      distinct.append(camera)
      idOf[camera] = distinct.count
      return distinct.count
    }
    self.cameras = distinct
  }
}
