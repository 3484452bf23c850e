import SystemPackage

/// The side files of a session: frame table, samples, metadata. Each table is read once, on
/// request, because reading it adds warnings.
struct VISLAMTables {
  let metadata: VISLAMMetadata
  private let folder: VISLAMFiles
  private let warnings: WarningCollector

  init(_ folder: VISLAMFiles, _ warnings: WarningCollector) {
    self.folder = folder
    self.warnings = warnings
    metadata = VISLAMMetadata(folder)
  }

  /// One row per camera frame.
  func frames() -> StreamState<VISLAMFrameTable> {
    let file = VISLAMFiles.frameFile
    do throws(CaptureError) {
      guard folder.contains(file) else {
        warnings.add(.missingFile, file, "no frame table: frames are the pictures")
        return .absent("no \(file)")
      }
      let table = try VISLAMFrameTable(folder.file(file), warnings: warnings)
      if table.hasRows { return .present(table) }
      warnings.add(.missingFile, file, "the frame table is empty: frames are the pictures")
      return .absent("\(file) is empty")
    } catch {
      return .unreadable(error)
    }
  }

  /// One row per sample.
  func samples() -> StreamState<VISLAMIMUTable> {
    let names = [VISLAMFiles.imuFile, VISLAMFiles.siblingIMUFile]
    do throws(CaptureError) {
      guard let file = names.first(where: folder.contains) else {
        warnings.add(.imuMissing, "imu", "no \(names[0])")
        return .absent("no \(names[0])")
      }
      let table = try VISLAMIMUTable(folder.file(file))
      table.report(to: warnings)
      if table.columns != nil { return .present(table) }
      warnings.add(.imuMissing, "imu", "\(file) is empty")
      return .absent("\(file) is empty")
    } catch {
      return .unreadable(error)
    }
  }
}

extension VISLAMIMUTable {
  /// Whether the form differs from the one that the app writes.
  var isSibling: Bool {
    guard columns?.isFused != true else { return false }
    return columns?.isSibling == true || hasForeignSpelling || file == VISLAMFiles.siblingIMUFile
  }

  /// Whether the form shows that values are specific force.
  var isAndroid: Bool {
    if case .wide = columns?.form { return columns?.isFused == false }
    return hasForeignSpelling
  }
}
