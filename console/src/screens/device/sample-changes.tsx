// Sample changes: a dialog that deletes the samples of a range, one that corrects a sample, and the mark of corrected ones.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { PencilLine } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import type { LiveSample } from '../../api/stream.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { CodeBlock, Failure } from '../../ui/states.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import type { Device } from './data/device-queries.ts';
import styles from './live-tail.module.css';
import { sampleChangeWords } from './sample-change-words.ts';

const pollMs = 400;
const reasonMax = 500;

interface DeletionProps {
  readonly device: Pick<Device, 'id' | 'workspaceId'>;
  readonly topic: string;
  /** ISO-8601 times. */
  readonly interval: { readonly from: string; readonly to: string };
  readonly zone: string;
  readonly close: () => void;
}

/** What a dry run counted is what the request may delete at most. */
export function DeleteSamplesDialog({ device, topic, interval, zone, close }: DeletionProps) {
  const words = useWords(sampleChangeWords);
  const formats = useFormats();
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const wanted = {
    workspaceId: device.workspaceId,
    deviceIds: [device.id],
    topics: [topic],
    ...interval,
  };
  const counted = useQuery({
    queryKey: ['sample deletion', wanted],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: () => previewOf(wanted),
  });
  const samples = counted.data?.samples ?? 0;
  const place = {
    topic,
    from: formats.instant(interval.from, zone),
    to: formats.instant(interval.to, zone),
  };
  const remove = useAction({
    mutationFn: async () => {
      const body = { ...wanted, samplesMax: samples, ...(reason !== '' && { reason }) };
      await completed(await ask<unknown>(platform.POST('/v3/samples/delete', { body })));
    },
    onSuccess: async () => {
      close();
      toast(words.deleted(samples));
      await client.invalidateQueries();
    },
  });
  return (
    <FormDialog
      title={words.title}
      submitLabel={words.submit(samples)}
      isBusy={remove.isPending}
      isIncomplete={samples === 0}
      error={remove.error}
      submit={() => remove.mutate()}
      close={close}
    >
      {counted.isPending && <p role="status">{words.counting}</p>}
      {counted.error !== null && <Failure error={counted.error} />}
      {counted.data !== undefined && (
        <p>{samples === 0 ? words.nothing(place) : words.note(samples, place)}</p>
      )}
      {counted.data !== undefined && counted.data.exports.length > 0 && (
        <p className="mute">{words.exports(counted.data.exports.length)}</p>
      )}
      <TextField
        label={words.reason}
        hint={words.reasonHint}
        maxLength={reasonMax}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      {remove.isPending && (
        <>
          <p role="status">{words.deleting}</p>
          <progress aria-label={words.deleting} />
        </>
      )}
    </FormDialog>
  );
}

interface Preview {
  readonly samples: number;
  readonly exports: readonly unknown[];
}

// The document has two answers, of which this is that of a dry run.
async function previewOf(wanted: {
  readonly workspaceId: string;
  readonly deviceIds: string[];
  readonly topics: string[];
}): Promise<Preview> {
  const body = { ...wanted, dryRun: true };
  return (await ask<unknown>(platform.POST('/v3/samples/delete', { body }))) as Preview;
}

/** Throws why a device was not done. */
async function completed(accepted: unknown): Promise<void> {
  // The document has two answers, of which this is that of a deletion.
  const { id } = accepted as components['schemas']['Operation'];
  for (;;) {
    const params = { path: { id } };
    const operation = await ask(platform.GET('/v3/operations/{id}', { params }));
    if (operation.completed !== null) {
      const failed = operation.actions.find(({ state }) => state === 'FAILED');
      if (failed !== undefined) throw new Error(failed.data.error ?? failed.data.name);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

interface CorrectionProps {
  readonly sample: LiveSample;
  readonly close: () => void;
}

/** The stored data beside what replaces it. */
export function CorrectSampleDialog({ sample, close }: CorrectionProps) {
  const words = useWords(sampleChangeWords);
  const client = useQueryClient();
  const { deviceId, topic, timestamp } = sample;
  const old = JSON.stringify(sample.data, null, 2);
  const [text, setText] = useState(old);
  const [reason, setReason] = useState('');
  const data = objectOf(text);
  const correct = useAction({
    mutationFn: async () => {
      const replacement = { data: data ?? {} };
      const corrections = [{ topic, timestamp, data: sample.data, replacement }];
      const sent = { corrections, ...(reason !== '' && { reason }) };
      const { rejected } = await ask(
        platform.POST('/v3/devices/{deviceId}/samples/correct', {
          params: { path: { deviceId } },
          body: sent,
        }),
      );
      const [first] = rejected;
      if (first !== undefined) throw new Error(first.message);
    },
    onSuccess: async () => {
      close();
      toast(words.done);
      await client.invalidateQueries();
    },
  });
  return (
    <FormDialog
      title={words.correctTitle}
      isWide
      submitLabel={words.save}
      isBusy={correct.isPending}
      isIncomplete={data === undefined || text === old}
      error={correct.error}
      submit={() => correct.mutate()}
      close={close}
    >
      <div className={styles['sides']}>
        <section className="stack gap-4" aria-label={words.old}>
          <span>{words.old}</span>
          <CodeBlock code={old} />
        </section>
        <TextArea
          label={words.corrected}
          hint={words.data}
          error={data === undefined ? words.badData : undefined}
          rows={8}
          spellCheck={false}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      <TextField
        label={words.reason}
        hint={words.reasonHint}
        maxLength={reasonMax}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </FormDialog>
  );
}

/** Undefined for a text that is no JSON object. */
function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

interface Correction {
  readonly at: string;
  readonly by: { readonly name: string };
  readonly reason: string | null;
}

/** Says who corrected the sample, when and why; nothing for other samples. */
export function CorrectionMark({
  sample: { meta },
  zone,
}: {
  readonly sample: LiveSample;
  readonly zone: string;
}) {
  const words = useWords(sampleChangeWords);
  const formats = useFormats();
  const correction = meta?.['svcCorrection'] as Correction | undefined;
  if (correction === undefined) return null;
  const { at, by, reason } = correction;
  const label = words.mark({
    by: by.name,
    at: formats.instant(at, zone),
    reason: reason ?? '',
  });
  return (
    <span className={styles['corrected']} title={label} role="img" aria-label={label}>
      <PencilLine aria-hidden="true" />
    </span>
  );
}
