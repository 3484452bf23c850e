import Core
import SystemPackage

extension Capture {
  /// Marks parts as unreadable if one of their files exists but cannot be opened: no permission, a
  /// folder or pipe in its place, a link loop, a device error. Such a file is not missing: stages
  /// that need it must fail rather than be skipped.
  ///
  /// A part that was considered absent becomes unreadable. A part with other readable files keeps
  /// their content, and the problem goes into `partProblems`.
  ///
  /// Cost: the folder is listed, unless the capture is one file, and every file of the capture is opened once.
  ///
  /// - Parameter role: the role of a file in the capture's folder, by its name.
  mutating func failWhatCannotBeRead(_ role: (String) -> FileRole?) {
    // Nothing beside a capture that is one file belongs to it.
    // An error of the machine is told of to whoever opens the capture.
    let listing = isFile ? nil : try? FolderListing(of: folder)
    var paths = Set(files.values.joined())
    for name in (listing?.files ?? []) + (listing?.subfolders ?? []) + (listing?.others ?? [])
    where role(name) != nil {
      paths.insert(folder.appending(name: name))
    }
    var problems: [FilePath: CaptureError] = [:]
    for file in paths {
      guard let error = Self.problem(file) else { continue }
      problems[file] = CaptureError(error, of: file)
    }
    guard !problems.isEmpty else { return }
    for part in CapturePart.allCases {
      guard let problem = files[part]?.lazy.compactMap({ problems[$0] }).first else { continue }
      fail(part, problem)
      if part == .calibration { calibrationProblem = problem }
      if part == .thumbnail { partProblems[part] = problem }
    }
    if case .stills(let stills)? = color.value?.source,
      let problem = stills.lazy.compactMap({ problems[$0] }).first
    {
      partProblems[.color] = problem
    }
    for (file, problem) in problems.sorted(by: { $0.key.text < $1.key.text }) {
      guard file.removingLastComponent() == folder, let name = file.name, let role = role(name)
      else { continue }
      for part in role.parts {
        if !fail(part, problem), !role.isAlternative, partProblems[part] == nil, isPresent(part) {
          partProblems[part] = problem
        }
      }
      // It exists, so it is not missing.
      completeness.absentFiles.removeAll { $0 == name || name.hasSuffix($0) }
      if listing?.contains(name) != true { retractAbsence(of: name, role.parts) }
    }
  }

  /// The first of these errors of the machine that no unreadable stream tells of: what was made of the capture
  /// without that file is not to be believed.
  func untold(of errors: [FileError]) -> FileError? {
    let told = problemsOfMachine
    return errors.first { error in
      !told.contains { $0.file.starts(with: error.path) || error.path.starts(with: $0.file) }
    }
  }

  /// Whether streams of it could not be read because the machine failed: they may be readable the next time.
  public var isToBeOpenedAgain: Bool { !problemsOfMachine.isEmpty }

  private var problemsOfMachine: [CaptureError] {
    [
      color.error, depth.error, confidence.error, imu.error, poses.error, intrinsics.error,
      cameraSettings.error, geo.error, framesProblem, calibrationProblem,
    ].compactMap(\.self).filter { $0.errorNumber != nil }
  }

  /// Marks a part that was considered absent as unreadable; `false` if it was not absent.
  @discardableResult
  private mutating func fail(_ part: CapturePart, _ problem: CaptureError) -> Bool {
    func failed<Value>(_ state: inout StreamState<Value>) -> Bool {
      guard case .absent = state else { return false }
      state = .unreadable(problem)
      return true
    }
    switch part {
    case .color: return failed(&color)
    case .depth: return failed(&depth)
    case .confidence: return failed(&confidence)
    case .imu: return failed(&imu)
    case .poses: return failed(&poses)
    case .intrinsics: return failed(&intrinsics)
    case .cameraSettings: return failed(&cameraSettings)
    case .geo: return failed(&geo)
    case .frames, .calibration, .thumbnail: return false
    }
  }

  private func isPresent(_ part: CapturePart) -> Bool {
    switch part {
    case .color: color.value != nil
    case .depth: depth.value != nil
    case .confidence: confidence.value != nil
    case .imu: imu.value != nil
    case .poses: poses.value != nil
    case .intrinsics: intrinsics.value != nil
    case .cameraSettings: cameraSettings.value != nil
    case .geo: geo.value != nil
    case .frames: framesProblem == nil
    case .calibration, .thumbnail: true
    }
  }

  /// Removes a file from the missing ones if something that is not a file has its name.
  private mutating func retractAbsence(of name: String, _ parts: Set<CapturePart>) {
    let ending = name.firstIndex(of: ".").map { String(name[$0...]) } ?? name
    let subjects = Set([name, String(ending.dropFirst())] + parts.map(\.rawValue))
      .union(parts.contains(.color) ? ["video"] : [])
    warnings.removeAll { warning in
      switch warning.code {
      case .missingFile: subjects.contains(warning.subject)
      case .imuMissing: parts.contains(.imu)
      case .calibrationMissing: parts.contains(.intrinsics) && intrinsics.error != nil
      default: false
      }
    }
    completeness.missing.removeAll { $0.contains(name) || $0.contains(" \(ending) ") }
  }

  /// Why an existing file cannot be opened; `nil` if it can, or does not exist.
  private static func problem(_ path: FilePath) -> FileError? {
    do throws(FileError) {
      // Does not open pipes or devices.
      _ = try InputFile(path)
      return nil
    } catch {
      if error.kind == .notFound { return nil }
      let remedy = "move it away, and copy the file from the device again"
      // What the file holds is not known: another copy would not help.
      if error.isOfMachine { return error }
      guard error.code == nil else {
        var error = error
        error.remedy = error.remedy ?? remedy
        return error
      }
      return FileError(
        kind: .other, path: path, operation: "open",
        reason: FileSystem.isFolder(path) ? "it is a folder" : "it is not a regular file",
        remedy: remedy)
    }
  }
}
