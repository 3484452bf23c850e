import Storage
import SystemPackage

extension Capture {
  /// Makes parts unreadable of which a file is there and cannot be opened: it may not be read, it is a
  /// folder, a pipe or a link that leads round in a circle, the device does not answer. Nothing of that is
  /// missing, and stages that need it must fail, not be passed over.
  ///
  /// A part that was taken for absent is unreadable. One of which other files can be read keeps what they
  /// hold, and the problem stands in `partProblems`.
  ///
  /// Cost: the folder is listed, and every file of the capture is opened once.
  ///
  /// - Parameter role: of a file in the capture's folder, by its name.
  mutating func failWhatCannotBeRead(_ role: (String) -> FileRole?) {
    let listing = try? FolderListing(of: folder)
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
      // It is not missing.
      completeness.absentFiles.removeAll { $0 == name || name.hasSuffix($0) }
      if listing?.contains(name) != true { retractAbsence(of: name, role.parts) }
    }
  }

  /// Makes a part unreadable that was taken for absent; `false`: it was not.
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

  /// Takes back that a file is missing which is there and is no file.
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

  /// Why a file that is there cannot be opened; `nil`: it can, or nothing is there.
  private static func problem(_ path: FilePath) -> FileError? {
    do throws(FileError) {
      // Opens neither pipes nor devices.
      _ = try InputFile(path)
      return nil
    } catch {
      if error.kind == .notFound { return nil }
      let remedy = "move it away, and copy the file from the device again"
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
