import Core
import SystemPackage

/// Everything that is read when a folder is opened.
struct ARKitScannerTables: Sendable {
  let folder: ARKitScannerFiles
  let metadata: StreamState<ARKitScannerMetadata>
  let sidecars: ARKitScannerSidecars
  let depth: StreamState<ARKitScannerDepthFile>
  let video: StreamState<CaptureVideo>
  let generation: ARKitScannerGeneration

  init(_ folder: ARKitScannerFiles) {
    self.folder = folder
    metadata = Self.metadata(in: folder)
    var sidecars =
      if folder.isRelease {
        ARKitScannerSidecars(release: folder)
      } else if folder.usesPropertyLists {
        ARKitScannerSidecars(propertyLists: folder)
      } else {
        ARKitScannerSidecars(json: folder, metadata: metadata.value)
      }
    if case .unreadable(let error) = metadata, case .absent = sidecars.matrices {
      sidecars.matrices = .unreadable(error)
      sidecars.files[.intrinsics] = ["metadata.json"]
    }
    depth = Self.depth(in: folder, stated: metadata.value?.depthSize ?? .absent)
    video = Self.video(in: folder, keys: sidecars.times.count)
    let records = depth.value?.recordCount ?? 0
    let numbered = max(records, (sidecars.numbers?.last ?? -1) + 1)
    let pictures = video.value.map {
      CountedPictures(
        arkitScanner: $0, frames: records > 0 ? records : numbered, count: numbered
      ).frames
    }
    sidecars.place(isFromZero: folder.isRelease, depth: records, pictures: pictures ?? [])
    self.sidecars = sidecars
    generation = ARKitScannerGeneration(
      folder, metadata: metadata.value,
      keysAreTimes: !sidecars.isKilled && !sidecars.isNominal, layout: depth.value?.layout.kind)
  }

  /// The first error, if nothing is readable.
  var failure: CaptureError? {
    let isEmpty =
      depth.value == nil && video.value == nil && sidecars.times.isEmpty
      && sidecars.poses.value == nil
    guard isEmpty else { return nil }
    return depth.error ?? sidecars.poses.error ?? video.error
      ?? CaptureError(
        file: folder.path, problem: "no depth, no video and no poses",
        remedy: "upload the whole folder again")
  }

  private static func metadata(in folder: ARKitScannerFiles) -> StreamState<ARKitScannerMetadata> {
    let name = "metadata.json"
    guard folder.has(name) else { return .absent(folder.absence(of: name)) }
    do throws(CaptureError) {
      return .present(try ARKitScannerMetadata(folder.path(of: name)))
    } catch {
      return .unreadable(error)
    }
  }

  private static func depth(in folder: ARKitScannerFiles, stated: ARKitScannerStatedSize)
    -> StreamState<ARKitScannerDepthFile>
  {
    guard let name = folder.depthFile else { return .absent("no depth file") }
    do throws(CaptureError) {
      return .present(try ARKitScannerDepthFile(folder.path(of: name), name: name, stated: stated))
    } catch {
      return .unreadable(error)
    }
  }

  private static func video(in folder: ARKitScannerFiles, keys: Int) -> StreamState<CaptureVideo> {
    guard let name = folder.videoFile else { return .absent("no video file") }
    do throws(CaptureError) {
      return .present(try CaptureVideo(arkitScanner: folder.path(of: name), keys: keys))
    } catch {
      return .unreadable(error)
    }
  }
}
