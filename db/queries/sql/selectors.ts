import { listedSelectors } from '../../../abi/selectors.ts'

/** The selectors as bytea literals write them: hex without 0x. */
const listed = Object.values(listedSelectors).map((selector) => selector.slice(2))

/** Whether a selector is one of the two a settlement is defined by; an SQL expression of one. */
export const isListed = (selector: string) => `${selector} in (${listed.map((hex) => `'\\x${hex}'`).join(', ')})`
