import Storage
import SystemPackage

extension ARKitScanner {
  /// Everything that opening a folder reads.
  struct Contents: Sendable {
    let folder: Folder
    let metadata: StreamState<Metadata>
    let sides: Sidecars
    let depth: StreamState<DepthFile>
    let video: StreamState<Video>
    let generation: Generation

    init(_ folder: Folder) {
      self.folder = folder
      metadata = Self.metadata(in: folder)
      var sides =
        if folder.isRelease {
          Sidecars(release: folder)
        } else if folder.usesPropertyLists {
          Sidecars(propertyLists: folder)
        } else {
          Sidecars(json: folder, metadata: metadata.value)
        }
      if case .unreadable(let error) = metadata, case .absent = sides.matrices {
        sides.matrices = .unreadable(error)
        sides.files[.intrinsics] = ["metadata.json"]
      }
      self.sides = sides
      depth = Self.depth(in: folder, stated: metadata.value?.depthSize ?? .absent)
      video = Self.video(in: folder, keys: sides.times.count)
      generation = Generation(
        folder, metadata: metadata.value,
        keysAreTimes: !sides.isKilled && !sides.isNominal, layout: depth.value?.layout.kind)
    }

    /// The first error, if there is nothing at all to work with.
    var failure: CaptureError? {
      let isEmpty =
        depth.value == nil && video.value == nil && sides.times.isEmpty && sides.poses.value == nil
      guard isEmpty else { return nil }
      return depth.error ?? sides.poses.error ?? video.error
        ?? CaptureError(
          file: folder.path, problem: "no depth, no video and no poses",
          remedy: "upload the whole folder again")
    }

    private static func metadata(in folder: Folder) -> StreamState<Metadata> {
      guard folder.has("metadata.json") else { return .absent("no metadata.json") }
      do throws(CaptureError) {
        return .present(try Metadata(folder.path(of: "metadata.json")))
      } catch {
        return .unreadable(error)
      }
    }

    private static func depth(in folder: Folder, stated: StatedSize) -> StreamState<DepthFile> {
      guard let name = folder.depthFile else { return .absent("no depth file") }
      do throws(CaptureError) {
        return .present(try DepthFile(folder.path(of: name), name: name, stated: stated))
      } catch {
        return .unreadable(error)
      }
    }

    private static func video(in folder: Folder, keys: Int) -> StreamState<Video> {
      guard let name = folder.videoFile else { return .absent("no video file") }
      do throws(CaptureError) {
        return .present(try Video(folder.path(of: name), name: name, keys: keys))
      } catch {
        return .unreadable(error)
      }
    }
  }
}
