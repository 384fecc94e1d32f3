/** The two entry points a settlement is defined by: transferWithAuthorization and receiveWithAuthorization. */
const listed = ['e3ee160e', 'ef55bec6']
/** The same two with the signature as bytes. */
const overloads = ['cf092995', '88b7ab63']

/** Selectors whose settlements are shown and counted, as stored. */
export function shownSelectors(settlementOverloads: 'spec' | 'all'): Buffer[] {
  const shown = settlementOverloads === 'all' ? [...listed, ...overloads] : listed
  return shown.map((selector) => Buffer.from(selector, 'hex'))
}

/** Whether a selector is one of the two a settlement is defined by; an SQL expression of one. */
export const isListed = (selector: string) => `${selector} in (${listed.map((hex) => `'\\x${hex}'`).join(', ')})`
