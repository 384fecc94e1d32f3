import type { ChainName } from '../../config/chains.ts'
import { RegistryEvent } from '../../db/model/registryEvent.model.ts'
import { storableText } from '../../db/text.ts'
import type { FeedbackEvent } from '../mapping/feedback.ts'
import type { EventPlace, RegistrationEvent } from '../mapping/registration-events.ts'
import { maxEntryLength } from '../mapping/registrations.ts'

/** Bytes of the URI of an event at most; of a longer one only the length is kept. */
const maxEventUriBytes = 8 * 1024

/** The rows of those events of which the other tables keep the outcome only; the others have rows of their own there. */
export function registryEvents(
  chain: ChainName,
  events: readonly (RegistrationEvent | FeedbackEvent)[],
): RegistryEvent[] {
  return events.flatMap((event) => {
    if (event.kind === 'registered') return [toRow(chain, event, 'Registered', ofUri(event.uri, event.owner))]
    if (event.kind === 'uri') return [toRow(chain, event, 'URIUpdated', ofUri(event.uri, event.updatedBy))]
    if (event.kind === 'metadata') return [toRow(chain, event, 'MetadataSet', ofEntry(event))]
    if (event.kind !== 'revoked') return []
    const { client, feedbackIndex } = event
    return [toRow(chain, event, 'FeedbackRevoked', { account: client, feedbackIndex })]
  })
}

const ofUri = (uri: Buffer, account: Buffer) => ({
  account,
  uri: uri.length > maxEventUriBytes ? null : storableText(uri.toString()),
  uriLength: uri.length,
})

const ofEntry = ({ key, value }: { readonly key: Buffer; readonly value: Buffer }) => ({
  key: storableText(key.toString(), maxEntryLength),
  value: value.subarray(0, maxEntryLength),
})

/** A whole row: what its event does not have is null, so that rows of stored and of read events compare equal. */
function toRow(
  chain: ChainName,
  { agentId, blockNumber, logIndex, blockTimestamp, txHash }: EventPlace,
  event: string,
  content: Partial<RegistryEvent>,
): RegistryEvent {
  return new RegistryEvent({
    id: `${chain}-${blockNumber}-${logIndex}`,
    chain,
    agentId,
    event,
    account: null,
    uri: null,
    uriLength: null,
    key: null,
    value: null,
    feedbackIndex: null,
    ...content,
    blockNumber,
    logIndex,
    blockTimestamp,
    txHash,
  })
}
