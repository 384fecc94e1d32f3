/**
 * A value of a stranger's JSON as text: a text as it is, anything else as JSON. Never throws, where `String` does: for
 * `{"toString":1}`. Of undefined the text is empty.
 */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
