/**
 * Media type of a picture by its first bytes; undefined: none that pages show. SVG is left out, as a document that can
 * run scripts. Sources: PNG (RFC 2083 3.1), JPEG (ITU-T T.81 B.1.1.3), GIF89a 17, WebP (RFC 9649 2.4).
 */
export function pictureType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'image/webp'
  return undefined
}
