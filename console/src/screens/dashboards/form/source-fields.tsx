// Source fields: the device of a series, or the tag whose devices are one series each.
import { useQuery } from '@tanstack/react-query';
import { useDevicesById } from '../../../api/devices-by-id.ts';
import { tagsOf } from '../../../api/tags.ts';
import { DevicePick } from '../../../parts/device-pick.tsx';
import { SelectField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { hasOneSeries, isOfTag, type TileKind, type TileSeries } from '../dashboard-model.ts';
import { formWords } from './form-words.ts';
import styles from './form.module.css';

interface SourceFieldsProps {
  readonly workspaceId: string;
  readonly kind: TileKind;
  readonly series: TileSeries;
  readonly change: (series: TileSeries) => void;
}

export function SourceFields(props: SourceFieldsProps) {
  const { workspaceId, kind, series, change } = props;
  const words = useWords(formWords);
  const tags = useQuery(tagsOf(workspaceId)).data?.content ?? [];
  const isTag = isOfTag(series);
  const mayBeTag = isTag || (!hasOneSeries(kind) && tags.length > 0);
  return (
    <>
      {mayBeTag && (
        <SelectField
          label={words.source}
          value={isTag ? 'tag' : 'device'}
          onChange={({ target }) =>
            change(blankOf(kind, target.value === 'tag' ? { tagId: '' } : {}))
          }
        >
          <option value="device">{words.oneDevice}</option>
          <option value="tag">{words.devicesOfTag}</option>
        </SelectField>
      )}
      {isTag ? (
        <SelectField
          label={words.tag}
          required
          value={series.tagId ?? ''}
          onChange={({ target }) => {
            const tag = tags.find(({ id }) => id === target.value);
            if (tag !== undefined) change({ ...series, tagId: tag.id, label: tag.name });
          }}
        >
          <option value="" disabled>
            {words.chooseKey}
          </option>
          {tags.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      ) : (
        <SeriesDevice {...props} />
      )}
    </>
  );
}

function SeriesDevice({ workspaceId, kind, series, change }: SourceFieldsProps) {
  const words = useWords(formWords);
  const { deviceId } = series;
  const devices = useDevicesById(workspaceId, [deviceId ?? null]);
  const name = devices.get(deviceId ?? '')?.name;
  return (
    <div className={styles['device']}>
      <DevicePick
        workspaceId={workspaceId}
        label={words.device}
        chosen={name ?? deviceId ?? ''}
        choose={(device) =>
          change({
            ...(kind === 'map' ? blankOf(kind, {}) : series),
            deviceId: device.id,
            label: kind === 'map' ? device.name : labelAfter(series, name, device.name),
          })
        }
      />
    </div>
  );
}

/** A map finds the positions of its devices itself. */
function blankOf(kind: TileKind, source: Pick<TileSeries, 'tagId'>): TileSeries {
  return { ...source, dataKey: kind === 'map' ? 'latitude' : '' };
}

/** A name that a person typed stays; that of the device before does not. */
function labelAfter({ label }: TileSeries, before: string | undefined, name: string): string {
  return label === null || label === undefined || label === '' || label === before ? name : label;
}
