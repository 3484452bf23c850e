import Storage
import SystemPackage

extension Capture {
  /// Makes parts unreadable that were taken for absent because a file of theirs may not be read: what is
  /// there and cannot be opened is not missing, and stages that need it must fail, not be passed over.
  ///
  /// Cost: every file of the capture is opened once.
  mutating func failWhatCannotBeRead() {
    var problems: [FilePath: CaptureError] = [:]
    for file in Set(files.values.joined()) {
      guard let error = Self.problem(file) else { continue }
      problems[file] = CaptureError(
        file: file, problem: error.problem, remedy: error.remedy)
    }
    guard !problems.isEmpty else { return }
    func problem(_ part: CapturePart) -> CaptureError? {
      files[part]?.lazy.compactMap { problems[$0] }.first
    }
    func checked<Value>(_ state: StreamState<Value>, _ part: CapturePart) -> StreamState<Value> {
      guard case .absent = state, let problem = problem(part) else { return state }
      return .unreadable(problem)
    }
    color = checked(color, .color)
    depth = checked(depth, .depth)
    confidence = checked(confidence, .confidence)
    imu = checked(imu, .imu)
    poses = checked(poses, .poses)
    intrinsics = checked(intrinsics, .intrinsics)
    cameraSettings = checked(cameraSettings, .cameraSettings)
    geo = checked(geo, .geo)
    calibrationProblem = problem(.calibration)
  }

  /// Why a file that is there cannot be opened.
  private static func problem(_ path: FilePath) -> FileError? {
    do throws(Errno) {
      // Not blocking: a named pipe is told by its readers.
      let file = try EnclosedPaths.openForReading(path)
      try? file.close()
      return nil
    } catch {
      return error == .noSuchFileOrDirectory ? nil : FileError(error, path: path, operation: "open")
    }
  }
}
