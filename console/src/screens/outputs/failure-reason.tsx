// Reason of a failing output: since when its target takes no deliveries, and what the last try ended with.
import { useQuery } from '@tanstack/react-query';
import { useFormats, useWords } from '../../words/language.tsx';
import { failingDeliveryOf } from './output-requests.ts';
import { outputsWords } from './outputs-words.ts';

/** Nothing until the reason is known. */
export function FailureReason({ outputId }: { readonly outputId: string }) {
  const words = useWords(outputsWords);
  const { clock } = useFormats();
  const { data } = useQuery(failingDeliveryOf(outputId));
  if (!data) return null;
  return (
    <small className="faint" title={data.reason ?? undefined}>
      {words.failingSince(clock(data.created), data.reason ?? '')}
    </small>
  );
}
