import SystemPackage

extension ARKitScannerSidecars {
  /// From `<t>_trans.xml`, `<t>_offset.txt`, `<t>_imu.xml` and `intri.xml`: one file per frame and
  /// value.
  init(propertyLists folder: ARKitScannerFiles) {
    encoding = "plist"
    let poses = Self.table(
      "_trans.xml", in: folder, read: ARKitScannerPropertyList.numbers(from:))
    let offsets = Self.table(
      "_offset.txt", in: folder, read: ARKitScannerSideFile.number(from:))
    let motion = Self.table("_imu.xml", in: folder, read: ARKitScannerPropertyList.numbers(from:))
    take(
      poses: poses, matrices: .absent(folder.absence(of: "intri.xml")), offsets: offsets,
      motion: motion)
    for (suffix, part) in [
      ("_trans.xml", CapturePart.poses), ("_offset.txt", .cameraSettings), ("_imu.xml", .imu),
    ] {
      let names = folder.files(endingIn: suffix).map(\.name)
      if !names.isEmpty { files[part] = names }
    }
    guard folder.has("intri.xml") else { return }
    do throws(CaptureError) {
      let numbers = try ARKitScannerPropertyList.numbers(from: folder.path(of: "intri.xml"))
      take(singleMatrix: .present(numbers), from: "intri.xml")
    } catch {
      take(singleMatrix: .unreadable(error), from: "intri.xml")
    }
  }

  private static func table(
    _ suffix: String, in folder: ARKitScannerFiles,
    read: (FilePath) throws(CaptureError) -> [Double]
  ) -> StreamState<ARKitScannerNumberTable> {
    let files = folder.files(endingIn: suffix)
    guard !files.isEmpty else { return .absent("no file …\(suffix)") }
    return .present(ARKitScannerNumberTable(files: files, in: folder.listing, read: read))
  }
}
