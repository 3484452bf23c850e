import Captures
import Core
import SystemPackage

/// The neutral capture.
struct ToyCapture {
  private let files: ToyFiles
  private let tables: ToyTables
  private let frames: ToyFrames

  init(_ files: ToyFiles, _ tables: ToyTables, _ frames: ToyFrames) {
    self.files = files
    self.tables = tables
    self.frames = frames
  }

  func capture(id: String) -> Capture {
    var capture = Capture(
      id: id, family: .toy, generation: "t1", folder: files.folder,
      clock: CaptureClock(.uptime, unit: "ns"))
    capture.frames = frames.frames
    capture.color = color()
    capture.depth = depth()
    capture.imu = motion()
    let header = tables.header
    let camera = PinholeCamera(
      width: header.colorWidth, height: header.colorHeight, fx: header.focalLength,
      fy: header.focalLength, cx: Double(header.colorWidth) / 2 - 0.5,
      cy: Double(header.colorHeight) / 2 - 0.5)
    capture.intrinsics = .present(
      tables.frames.indices.map {
        IntrinsicsRow(
          frame: $0, width: camera.width, height: camera.height, fx: camera.fx, fy: camera.fy,
          cx: camera.cx, cy: camera.cy)
      })
    capture.alignment = DepthCalibration(
      registered: true, colorFromDepth: .identity, colorIntrinsics: camera)
    let upright = Quaternion(x: 0, y: 0, z: 0, w: 1)
    let rows = tables.frames.enumerated().map {
      PoseStream.Row(frame: $0, pose: Pose(position: $1.position, orientation: upright))
    }
    capture.poses = .present(
      PoseStream(
        description: StreamDescription(
          file: ToyFiles.framesName, encoding: "csv", frames: rows.count), rows: rows))
    let table = files.folder.appending(ToyFiles.framesName)
    let headerFile = files.folder.appending(ToyFiles.headerName)
    capture.files = [
      .color: files.pictures, .depth: [files.depth].compactMap { $0 } + [headerFile],
      .imu: [files.motion].compactMap { $0 }, .frames: [table], .poses: [table],
      .intrinsics: [headerFile], .calibration: [headerFile],
    ]
    capture.completeness = UploadCompleteness(missing: [], absentFiles: files.absentNames)
    return capture
  }

  private func color() -> StreamState<ColorStream> {
    guard !files.pictures.isEmpty else { return .absent("no pictures") }
    return .present(
      ColorStream(
        source: .stills(files.pictures),
        description: StreamDescription(
          file: "*.png", encoding: "png", width: tables.header.colorWidth,
          height: tables.header.colorHeight, frames: files.pictures.count)))
  }

  private func depth() -> StreamState<DepthStream> {
    guard let path = files.depth else { return .absent("no \(ToyFiles.depthName)") }
    let (width, height) = (tables.header.depthWidth, tables.header.depthHeight)
    do throws(FileError) {
      let source = ToyDepth(file: try MappedFile(path), pixels: width * height)
      return .present(
        DepthStream(
          description: StreamDescription(
            file: ToyFiles.depthName, encoding: "u16", width: width, height: height,
            frames: source.recordCount), width: width, height: height, access: .indexed(source)))
    } catch {
      return .unreadable(CaptureError(file: path, problem: error.reason, remedy: error.remedy))
    }
  }

  private func motion() -> StreamState<IMUStream> {
    guard files.motion != nil else { return .absent("no \(ToyFiles.motionName)") }
    let (stream, _) = IMUStream.sorting(
      tables.samples, sensorNames: ToyTables.sensors,
      description: StreamDescription(file: ToyFiles.motionName, encoding: "csv"),
      convention: .coremotion)
    return .present(stream)
  }
}
