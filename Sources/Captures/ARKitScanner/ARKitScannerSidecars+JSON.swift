import SystemPackage

extension ARKitScannerSidecars {
  /// From `trans.json` and related files.
  init(json folder: ARKitScannerFiles, metadata: ARKitScannerMetadata?) {
    // Keys are times in all generations with these files.
    let timesOnly = folder.has("intri.json") || folder.has("exif.json")
    var tables: [StreamState<ARKitScannerNumberTable>] = []
    for (name, part) in [
      ("trans.json", CapturePart.poses), ("intri.json", .intrinsics),
      ("offset.json", .cameraSettings), ("imu.json", .imu),
    ] {
      let table = Self.table(name, in: folder, timesOnly: timesOnly)
      tables.append(table)
      unreadableKeys[name] = table.value?.unreadableKeys
      if folder.has(name) { files[part] = [name] }
    }
    take(poses: tables[0], matrices: tables[1], offsets: tables[2], motion: tables[3])
    if !folder.has("intri.json"), let text = metadata?.matrix {
      take(singleMatrix: .present(NumberList.parse(text)), from: "metadata.json")
    }
    readExif(in: folder)
  }

  /// Reads `exif.json`: exposures for the keys, or, if there are no keys, their times.
  mutating func readExif(in folder: ARKitScannerFiles) {
    guard folder.has("exif.json") else { return }
    files[isKilled ? .frames : .cameraSettings, default: []].append("exif.json")
    do throws(CaptureError) {
      let exif = try ARKitScannerExif(folder.path(of: "exif.json"))
      (exifIsOpen, exifBrokenLines) = (!exif.isClosed, exif.brokenLines)
      if isKilled {
        times = exif.times
        exifBrokenLines += exif.farOff
      } else {
        exposures = .present(exif.entries(for: times))
      }
    } catch {
      exposures = .unreadable(error)
    }
  }

  private static func table(
    _ name: String, in folder: ARKitScannerFiles, timesOnly: Bool
  ) -> StreamState<ARKitScannerNumberTable> {
    guard folder.has(name) else { return .absent(folder.absence(of: name)) }
    do throws(CaptureError) {
      return .present(
        try ARKitScannerNumberTable(json: folder.path(of: name), timesOnly: timesOnly))
    } catch {
      return .unreadable(error)
    }
  }
}
