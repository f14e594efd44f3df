// Choices of an exploration: values, devices, accumulator, bucket and source, all in the address.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../ui/button.tsx';
import { Sheet } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextField, toggled } from '../../../ui/field.tsx';
import { type FormulaError, formulaError, FormulaField } from '../../../ui/formula-field.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import type { DataKey } from '../data/data-keys.ts';
import { bucketsFor } from '../../../../../src/dashboards/buckets.ts';
import { intervalOf } from '../data/time-range.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceRoute } from '../device-search.ts';
import { deviceWords } from '../device-words.ts';
import {
  accumulatorNames,
  type ExploreSearch,
  type ReadPlan,
  sensitivities,
  sourceNames,
} from './explore-search.ts';
import { exploreWords } from './explore-words.ts';
import styles from './explore.module.css';

const foundMax = 20;

interface ChoicesProps {
  readonly topics: readonly string[];
  readonly topic: string;
  readonly keys: readonly DataKey[];
  readonly chosen: readonly string[];
  readonly compared: readonly { readonly id: string; readonly name: string }[];
  readonly accumulator: string;
  readonly plan: ReadPlan;
  /** Whether one line is shown, around which a range can be drawn. */
  readonly isSingle: boolean;
}

type Change = (change: Partial<ExploreSearch> & { readonly topic?: string }) => void;

function useChange(): Change {
  const navigate = useNavigate({ from: '/w/$workspaceId/devices/$deviceId/explore' });
  return (change) =>
    void navigate({
      search: (before) => ({ ...before, ...change }),
      replace: true,
      resetScroll: false,
    });
}

export function ExploreChoices(props: ChoicesProps) {
  const words = useWords(exploreWords);
  const change = useChange();
  const { keys, chosen } = props;
  return (
    <Sheet>
      <div className={styles['choices']}>
        <fieldset className={`flow wrap gap-y-4 gap-x-16 ${styles['keys']}`}>
          <legend>{words.values}</legend>
          {keys.map(({ key, title }) => (
            <CheckField
              key={key}
              label={title}
              isOn={chosen.includes(key)}
              change={(isOn) => change({ keys: toggled(chosen, key, isOn) })}
            />
          ))}
        </fieldset>
        <Formula />
        <Devices {...props} />
        <Reading {...props} />
      </div>
    </Sheet>
  );
}

/** A formula is checked before it is drawn; an error stands under its place. */
function Formula() {
  const words = useWords(exploreWords);
  const change = useChange();
  const { formula = '' } = useSearch({ from: `${deviceRoute}/explore` });
  const navigate = useNavigate({ from: '/w/$workspaceId/devices/$deviceId/explore' });
  const [typed, setTyped] = useState(formula);
  const [error, setError] = useState<FormulaError>();
  const apply = async () => {
    const expression = typed.trim();
    setError(undefined);
    if (expression === '') {
      const search = ({ formula: _, ...kept }: ExploreSearch) => kept;
      void navigate({ search, replace: true, resetScroll: false });
      return;
    }
    const found = await formulaError(expression);
    if (found === undefined) change({ formula: expression });
    else setError(found);
  };
  return (
    <form
      className="flow gap-x-8 gap-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        void apply().catch(({ message }: Error) => setError({ message, expression: '' }));
      }}
    >
      <FormulaField label={words.formula} value={typed} change={setTyped} error={error} />
      <div className={styles['draw']}>
        <Button type="submit">{words.draw}</Button>
      </div>
    </form>
  );
}

function Reading({ topics, topic, accumulator, plan, isSingle }: ChoicesProps) {
  const words = useWords(exploreWords);
  const { topic: topicWord } = useWords(deviceWords);
  const { duration } = useFormats();
  const change = useChange();
  const search = useSearch({ from: `${deviceRoute}/explore` });
  const [openedMs] = useState(() => Date.now());
  const navigate = useNavigate({ from: '/w/$workspaceId/devices/$deviceId/explore' });
  const choose = (name: 'bucket' | 'source' | 'usual', value: string) =>
    void navigate({
      search: ({ [name]: _, ...kept }) => (value === 'auto' ? kept : { ...kept, [name]: value }),
      replace: true,
      resetScroll: false,
    });
  return (
    <div className={styles['selects']}>
      {topics.length > 1 && (
        <SelectField
          label={topicWord}
          value={topic}
          onChange={({ target }) => change({ topic: target.value, keys: [] })}
        >
          {topics.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
      )}
      <SelectField
        label={words.accumulator}
        value={accumulator}
        onChange={({ target }) =>
          change({ acc: target.value as (typeof accumulatorNames)[number] })
        }
      >
        {accumulatorNames.map((name) => (
          <option key={name} value={name}>
            {words.accumulators[name]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.bucket}
        value={search.bucket ?? 'auto'}
        onChange={({ target }) => choose('bucket', target.value)}
      >
        <option value="auto">{words.automatic(duration(plan.bucket.seconds))}</option>
        {bucketsFor(intervalOf(search, openedMs)).map(({ iso, seconds }) => (
          <option key={iso} value={iso}>
            {duration(seconds)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.source}
        value={search.source ?? 'auto'}
        onChange={({ target }) => choose('source', target.value)}
      >
        {sourceNames.map((name) => (
          <option key={name} value={name}>
            {words.sources[name]}
          </option>
        ))}
      </SelectField>
      {isSingle && (
        <>
          <SelectField
            label={words.usual}
            value={search.usual ?? 'auto'}
            onChange={({ target }) => choose('usual', target.value)}
          >
            <option value="auto">{words.sensitivities.off}</option>
            {sensitivities.map((name) => (
              <option key={name} value={name}>
                {words.sensitivities[name]}
              </option>
            ))}
          </SelectField>
          <TextField
            label={words.target}
            type="number"
            step="any"
            value={search.target ?? ''}
            onChange={({ target: { value, valueAsNumber } }) =>
              void navigate({
                search: ({ target: _, ...kept }) =>
                  value === '' ? kept : { ...kept, target: valueAsNumber },
                replace: true,
                resetScroll: false,
              })
            }
          />
        </>
      )}
    </div>
  );
}

function Devices({ compared }: ChoicesProps) {
  const words = useWords(exploreWords);
  const { device } = useDeviceFrame();
  const change = useChange();
  const [isAsked, setAsked] = useState(false);
  const ids = compared.map(({ id }) => id);
  return (
    <div className="row wrap gap-8">
      <span className={`row wrap gap-8 ${styles['device']}`}>{device.name}</span>
      {compared.map(({ id, name }) => (
        <span key={id} className={`row wrap gap-8 ${styles['device']}`}>
          {name}
          <Button
            look="ghost"
            isIcon
            aria-label={words.removeDevice(name)}
            onClick={() => change({ with: ids.filter((one) => one !== id) })}
          >
            <X aria-hidden="true" />
          </Button>
        </span>
      ))}
      <Button onClick={() => setAsked(true)}>
        <Plus aria-hidden="true" />
        {words.addDevice}
      </Button>
      {isAsked && (
        <DeviceSearchDialog
          without={[device.id, ...ids]}
          close={() => setAsked(false)}
          choose={(id) => {
            setAsked(false);
            change({ with: [...ids, id] });
          }}
        />
      )}
    </div>
  );
}

interface DeviceSearchProps {
  readonly without: readonly string[];
  readonly close: () => void;
  readonly choose: (id: string) => void;
}

function DeviceSearchDialog({ without, close, choose }: DeviceSearchProps) {
  const words = useWords(exploreWords);
  const { device } = useDeviceFrame();
  const [search, setSearch] = useState('');
  const query = {
    workspaceId: device.workspaceId,
    sort: 'name,asc',
    size: foundMax,
    ...(search.trim() === '' ? {} : { search: search.trim() }),
  };
  const found = useQuery({
    queryKey: ['devices-found', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => ask(platform.GET('/v3/assets', { signal, params: { query } })),
  });
  return (
    <Dialog title={words.addDevice} close={close}>
      <TextField
        label={words.searchDevices}
        type="search"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <Answered answer={found} skeleton={<Bone />}>
        {({ content }) => {
          const others = content.filter(({ id }) => !without.includes(id));
          if (others.length === 0) return <p className="mute">{words.noDevice}</p>;
          return (
            <ul className="stack justify-start gap-2">
              {others.map(({ id, name }) => (
                <li key={id}>
                  <Button look="ghost" onClick={() => choose(id)}>
                    {name}
                  </Button>
                </li>
              ))}
            </ul>
          );
        }}
      </Answered>
    </Dialog>
  );
}
