// Decoder search: device types whose decoder reads the pasted bytes, each tried on the platform.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { useSettledValue } from '../../live/use-settled-value.ts';
import { TextField } from '../../parts/field.tsx';
import { Bone, Failure } from '../../parts/states.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { runScript } from '../device-type/script-run.ts';
import { OptionList } from './option-list.tsx';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';

type DeviceType = components['schemas']['DeviceType'];

/** In place of the id of a type: code that begins with two bytes. */
export const ownCode = '';

const triedMax = 8;
const valuesMax = 4;

interface DecoderSearchProps {
  readonly payloadHex: string;
  readonly port: number;
  readonly setPort: (port: number) => void;
  readonly chosen: string;
  readonly choose: (typeId: string) => void;
}

export function DecoderSearch(props: DecoderSearchProps) {
  const { payloadHex, port, setPort, chosen, choose } = props;
  const words = useWords(welcomeWords);
  const [search, setSearch] = useState('');
  const tried = useTriedTypes(useSettledValue(search.trim()), payloadHex, port);
  const read = tried.data?.find(({ result }) => typeof result !== 'string');
  // Without a word to search for, a decoder that reads the bytes is a coincidence.
  const proposed = search.trim() === '' ? undefined : read?.id;
  useEffect(() => {
    if (proposed !== undefined) choose(proposed);
  }, [proposed, choose]);
  const own = { value: ownCode, title: words.ownCode, note: words.ownCodeNote };
  const notes = { failed: words.noDecode, empty: words.noSample };
  const found = (tried.data ?? []).map(({ id, name, result }) => ({
    value: id,
    title: name,
    note: typeof result === 'string' ? notes[result] : result.join(' · '),
    isDisabled: result === 'failed',
  }));
  return (
    <div className={styles['proposal']}>
      <b>{words.bytes(payloadHex.length / 2)}</b>
      <div className={styles['pair']}>
        <TextField
          label={words.findType}
          hint={words.findTypeHint}
          autoComplete="off"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
        <TextField
          label={words.port}
          hint={words.portHint}
          type="number"
          min={1}
          max={255}
          value={port}
          onChange={({ target }) => setPort(Number(target.value))}
        />
      </div>
      <div aria-busy={tried.isFetching} data-stale={tried.isPlaceholderData}>
        {tried.isPending && <Bone width="16em" />}
        {tried.error !== null && <Failure error={tried.error} retry={() => void tried.refetch()} />}
        {tried.data?.length === 0 && <p className="mute">{words.noTypes}</p>}
      </div>
      <OptionList
        label={words.decoders}
        name="decoder"
        isFirst={false}
        value={[own, ...found].some(({ value }) => value === chosen) ? chosen : ownCode}
        choose={choose}
        options={[...found, own]}
      />
    </div>
  );
}

interface TriedType {
  readonly id: string;
  readonly name: string;
  /** The decoded values as words. */
  readonly result: 'failed' | 'empty' | readonly string[];
}

/** The first types of the search that have a decoder of bytes; those that read the payload first. */
function useTriedTypes(search: string, payloadHex: string, port: number) {
  const { organizationId } = useAccount();
  return useQuery({
    queryKey: ['tried types', organizationId, search, payloadHex, port],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly TriedType[]> => {
      const named = search === '' ? {} : { search };
      const query = { organizationId, ...named, details: true, size: 50, sort: 'name,asc' };
      const { content } = await ask(
        platform.GET('/v3/device-types', { signal, params: { query } }),
      );
      const types = content
        .filter((type): type is DeviceType => 'uplinkScript' in type)
        .filter(({ uplinkScript, meta }) => uplinkScript !== null && meta.encoding !== 'JSON');
      const tried = await Promise.all(
        types.slice(0, triedMax).map((type) => tryType(type, payloadHex, port)),
      );
      const isRead = ({ result }: TriedType) => typeof result !== 'string';
      return [...tried.filter(isRead), ...tried.filter((one) => !isRead(one))];
    },
  });
}

async function tryType(type: DeviceType, payloadHex: string, port: number): Promise<TriedType> {
  const { id, name, uplinkScript } = type;
  const event = { data: { port, payloadHex }, timestamp: new Date().toISOString(), state: {} };
  const { emits } = await runScript(uplinkScript?.code ?? '', event);
  if (emits.some((emit) => emit.type === 'ERROR')) return { id, name, result: 'failed' };
  const values = emits
    .filter((emit) => emit.type === 'SAMPLE')
    .flatMap((emit) => Object.entries((emit.event as { readonly data: object }).data))
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([key, value]) => `${key} ${String(value)}`);
  return { id, name, result: values.length === 0 ? 'empty' : values.slice(0, valuesMax) };
}
