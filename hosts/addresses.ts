/** The text with hosts instead of whole addresses: many nodes are addressed with the key in the path. */
export function hideAddresses(text: string): string {
  return text.replace(/\b(?:https?|wss?):\/\/[^\s"'<>]+/g, (address) => URL.parse(address)?.host ?? 'an address')
}

export function hostOf(url: string): string {
  return new URL(url).host
}
