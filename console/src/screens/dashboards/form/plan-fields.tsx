// Plan fields: the place whose plan a tile shows, and the value that colors it.
import { useQuery } from '@tanstack/react-query';
import type { Tile } from '../../../../../src/dashboards/configuration.ts';
import { placesOf } from '../../../api/workspace-records.ts';
import { SelectField } from '../../../ui/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { ColorChoice, colorOf } from '../../places/plan-colors.tsx';
import { partsOf, planDevicesOf } from '../../places/plan-data.ts';
import { type Place, placeOf } from '../../places/place-requests.ts';
import type { ShownVariables } from '../variable-values.ts';
import { formWords } from './form-words.ts';

interface PlanFieldsProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly tile: Tile;
  readonly change: (tile: Tile) => void;
}

export function PlanFields(props: PlanFieldsProps) {
  return (
    <>
      <PlaceField {...props} />
      <PlanColor {...props} />
    </>
  );
}

/** A place, or the one of a variable; a picture of its own stays as it is stored. */
function PlaceField({ workspaceId, variables, tile, change }: PlanFieldsProps) {
  const words = useWords(formWords);
  const places = useQuery(placesOf(workspaceId)).data ?? [];
  const offered = variables.variables.filter(({ kind }) => kind === 'PLACE');
  const { placeId, variable, blobId, ...others } = tile;
  const chosen = variable ? `${variablePrefix}${variable}` : (placeId ?? '');
  return (
    <SelectField
      label={words.place}
      required={!blobId}
      value={chosen}
      onChange={({ target: { value } }) => {
        const name = value.startsWith(variablePrefix) ? value.slice(variablePrefix.length) : '';
        change(name === '' ? { ...others, placeId: value } : { ...others, variable: name });
      }}
    >
      <option value="" disabled>
        {words.choosePlace}
      </option>
      {offered.map(({ name, label }) => (
        <option key={name} value={`${variablePrefix}${name}`}>
          {words.variable(label || name)}
        </option>
      ))}
      {places.map(({ id, path }) => (
        <option key={id} value={id}>
          {path}
        </option>
      ))}
      {placeId && !places.some(({ id }) => id === placeId) && (
        <option value={placeId}>{placeId}</option>
      )}
    </SelectField>
  );
}

/** No id of a place begins with it. */
const variablePrefix = 'var.';

/** The state, or a number of the devices at the place, which is the one shown now for a variable. */
function PlanColor({ workspaceId, variables, tile, change }: PlanFieldsProps) {
  const { placeId, variable } = tile;
  const shownId = placeId || variables.values.get(variable ?? '')?.[0];
  const place = useQuery({
    ...placeOf(workspaceId, shownId ?? ''),
    enabled: shownId !== undefined,
  }).data;
  return place && <ColorOfPlace place={place} tile={tile} change={change} />;
}

interface ColorOfPlaceProps {
  readonly place: Place;
  readonly tile: Tile;
  readonly change: (tile: Tile) => void;
}

function ColorOfPlace({ place, tile: { colorBy, ...tile }, change }: ColorOfPlaceProps) {
  const devices = useQuery(planDevicesOf(place)).data;
  return (
    <ColorChoice
      place={place}
      devices={devices}
      color={colorOf(colorBy)}
      change={(color) => {
        const { topic, key } = partsOf(color);
        change(color === undefined ? tile : { ...tile, colorBy: { topic, dataKey: key } });
      }}
    />
  );
}
