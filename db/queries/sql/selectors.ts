import { listedSelectors } from '../../../abi/selectors.ts'

/** Without their 0x, as statements write bytes. */
const listed = Object.values(listedSelectors).map((selector) => selector.slice(2))

/** Whether a selector is one of the two a settlement is defined by; an SQL expression of one. */
export const isListed = (selector: string) => `${selector} in (${listed.map((hex) => `'\\x${hex}'`).join(', ')})`
