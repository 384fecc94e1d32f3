/** The two entry points a settlement is defined by: transferWithAuthorization and receiveWithAuthorization. */
const listed = ['e3ee160e', 'ef55bec6']

/** Whether a selector is one of the two a settlement is defined by; an SQL expression of one. */
export const isListed = (selector: string) => `${selector} in (${listed.map((hex) => `'\\x${hex}'`).join(', ')})`
