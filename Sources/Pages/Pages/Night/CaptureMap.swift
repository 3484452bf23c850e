import Engine
import Media
import SystemPackage

/// The captures of a report as GeoJSON (RFC 7946): a point each, where the capture was first located, with its state
/// and its page. Captures without a position have the geometry `null`.
public enum CaptureMap {
  /// - Parameter root: the output folder, to which the addresses of pages are relative.
  ///
  /// Cost: reading `tables/geo.csv` of every capture that has it.
  public static func geoJSON(_ captures: [CaptureRow], root: FilePath) -> [UInt8] {
    var json = JSONStream()
    json.beginObject(lines: true)
    json.member("type", "FeatureCollection")
    json.key("features")
    json.beginArray(lines: true)
    for capture in captures {
      json.beginObject()
      json.member("type", "Feature")
      json.key("geometry")
      if let place = place(of: capture, root) {
        json.beginObject()
        json.member("type", "Point")
        json.member("coordinates", [place.longitude, place.latitude])
        json.end()
      } else {
        json.null()
      }
      json.key("properties")
      json.beginObject()
      json.member("id", capture.id)
      json.member("needsPerson", capture.needsPerson)
      json.member("state", capture.state.rawValue)
      json.member("family", capture.family)
      json.member("scene", capture.scene)
      json.member("device", capture.device)
      json.member("recordedAt", capture.recordedAt)
      json.member("page", capture.page)
      json.end()
      json.end()
    }
    json.end()
    json.end()
    json.endLine()
    return json.drain { $0 }
  }

  private static func place(
    of capture: CaptureRow, _ root: FilePath
  ) -> (latitude: Double, longitude: Double)? {
    guard capture.page != nil else { return nil }
    let layout = OutputLayout(root: root, name: capture.id)
    let tables = PublishedStages.Stage(
      name: "tables", record: ArtifactRecord(at: layout.record("tables"), of: layout))
    return GeoPath(PublishedTable("geo.csv", of: tables, layout))?.first
  }
}
