/// The layout of a frame: a length of four bytes, the most significant first, then that many bytes.
public enum Frame {
    public static let lengthBytes = 4
}
