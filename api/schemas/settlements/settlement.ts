import { z } from 'zod'
import { settlementSelectors } from '../../../abi/selectors.ts'
import { rowLimits } from '../../../config/limits.ts'
import { address, availableSince, chainName, count, dollars, fid, hash, nextCursor, time } from '../scalars.ts'

export const settlement = z
  .strictObject({
    tx_hash: hash,
    block_number: count,
    block_timestamp: time,
    payer_address: address.meta({ description: 'Who signed the authorization.' }),
    recipient_address: address.meta({ description: 'Who was paid.' }),
    amount_usdc: dollars,
    chain: chainName,
    selector: z.enum(settlementSelectors).meta({
      description:
        'transferWithAuthorization or receiveWithAuthorization; the last two, their overloads with the signature as ' +
        'bytes, only where the operator shows them.',
    }),
    log_index: count,
    payment_nonce: hash.meta({ description: 'Nonce of the authorization.' }),
    facilitator_address: address.meta({ description: 'Sender of the transaction.' }),
    final: z.boolean().meta({ description: 'At or below the finalized block: it will not be undone.' }),
  })
  .meta({ id: 'Settlement', description: 'One executed authorization; several may share a transaction.' })

export const allSettlementsList = z
  .strictObject({
    count,
    settlements: z.array(settlement).max(rowLimits.settlements.maximum),
    available_since: availableSince,
    next_cursor: nextCursor,
  })
  .meta({ id: 'AllSettlementsList' })

export const settlementList = z
  .strictObject({
    fid,
    count,
    settlements: z.array(settlement).max(rowLimits.settlements.maximum),
    available_since: availableSince,
    next_cursor: nextCursor.optional(),
  })
  .meta({ id: 'SettlementList' })
