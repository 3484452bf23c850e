import Core
import SystemPackage

extension ARKitScannerSidecars {
  /// From the pose file of a released scene.
  init(release folder: ARKitScannerFiles) {
    let name = ARKitScannerFiles.releasePoses
    guard folder.has(name) else {
      let why = folder.absence(of: name)
      (poses, matrices, motion) = (.absent(why), .absent(why), .absent(why))
      isKilled = true
      readExif(in: folder)
      return
    }
    let release: ARKitScannerRelease
    do throws(CaptureError) {
      release = try ARKitScannerRelease(folder.path(of: name))
    } catch {
      (poses, matrices, motion) = (.unreadable(error), .unreadable(error), .unreadable(error))
      return
    }
    files = [.poses: [name], .intrinsics: [name], .imu: [name]]
    unreadableKeys[name] = release.unreadableKeys
    farOff[.poses] = release.farOff
    if release.isCut { cutParts.insert(.poses) }
    times = release.frames.map(\.frame.time)
    numbers = release.frames.map(\.number)
    // Poses of two world frames must not be mixed: the app's own poses are used only if there are
    // no others.
    let aligned = release.frames.contains { $0.frame.alignedPose != nil }
    if !aligned { world = .yUp }
    poses = .present(
      release.frames.map {
        ARKitScannerPoseReading(
          release: aligned ? $0.frame.alignedPose : $0.frame.pose, aligned: aligned)
      })
    matrices = .present(
      release.frames.map { _, frame in
        guard let rows = frame.intrinsic, rows.count == 3, rows.allSatisfy({ $0.count == 3 }) else {
          return nil
        }
        return (0..<3).flatMap { column in rows.map { $0[column] } }
      })
    motion = .present(ARKitScannerMotion(release))

    guard folder.has("exif.json") else { return }
    files[.cameraSettings] = [name, "exif.json"]
    do throws(CaptureError) {
      let exif = try ARKitScannerExif(folder.path(of: "exif.json"))
      (exifIsOpen, exifBrokenLines) = (!exif.isClosed, exif.brokenLines)
      exposures = .present(exif.entries(forFrameNumbers: release.frames.map(\.number)))
    } catch {
      exposures = .unreadable(error)
    }
  }
}
