//! Requests for indexes: recorded at once, done in steps.

use crate::error::{OpenError, StoreError};
use crate::index::{IndexKind, IndexKinds, IndexSpec, IndexStage, IndexState, WorkItem, resolve};
use crate::store::Store;
use crate::write::Writer;
use fulgurite_schema::AttributeDescription;

impl Store {
    /// Requests exactly these indexes. [`index_step`](Self::index_step) builds the new ones; all
    /// others are neither used nor written from now on. Returns true if the request differs from
    /// the one before.
    /// # Errors
    /// [`OpenError::Index`] for an attribute that cannot be indexed so; [`OpenError::Read`] when
    /// the store fails.
    pub fn request_indexes(&self, wanted: &[IndexSpec]) -> Result<bool, OpenError> {
        let resolved = resolve(self.schema(), wanted)?;
        let wanted = resolved.iter().map(|spec| IndexSpec {
            attribute: spec.attribute.name().to_owned(),
            kinds: spec.kinds,
        });
        let wanted: Vec<IndexSpec> = wanted.collect();
        self.change_indexes(|state| {
            for attribute in attributes_of(state, &wanted) {
                let kinds = wanted.iter().find(|spec| spec.attribute == attribute);
                let kinds = kinds.map_or(IndexKinds::default(), |spec| spec.kinds);
                for kind in IndexKind::ALL {
                    self.request(state, &attribute, kind, kinds.has(kind))?;
                }
            }
            Ok(())
        })
    }

    /// Requests these indexes, or kinds of them, in addition to the existing ones.
    /// # Errors
    /// As [`request_indexes`](Self::request_indexes).
    pub fn add_indexes(&self, more: &[IndexSpec]) -> Result<bool, OpenError> {
        let resolved = resolve(self.schema(), more)?;
        self.change_indexes(|state| {
            for spec in &resolved {
                for kind in spec.kinds.iter() {
                    self.request(state, spec.attribute.name(), kind, true)?;
                }
            }
            Ok(())
        })
    }

    /// Gives up all indexes of these attributes.
    /// # Errors
    /// As [`request_indexes`](Self::request_indexes); an attribute without index is no error.
    pub fn remove_indexes(&self, attributes: &[String]) -> Result<bool, OpenError> {
        let names = self.attribute_names(attributes)?;
        self.change_indexes(|state| {
            for attribute in &names {
                for kind in IndexKind::ALL {
                    self.request(state, attribute, kind, false)?;
                }
            }
            Ok(())
        })
    }

    /// Requests that complete indexes are rebuilt: those of these attributes, or all of them.
    /// Searches do not use them until they are complete again. Returns true if there are any.
    /// # Errors
    /// As [`request_indexes`](Self::request_indexes).
    pub fn rebuild_indexes(&self, attributes: Option<&[String]>) -> Result<bool, OpenError> {
        let names = attributes
            .map(|names| self.attribute_names(names))
            .transpose()?;
        self.change_indexes(|state| {
            for spec in complete_specs(state) {
                if names
                    .as_ref()
                    .is_some_and(|names| !names.contains(&spec.attribute))
                {
                    continue;
                }
                self.make_anew(state, &spec)?;
            }
            Ok(())
        })
    }

    /// Starts to rebuild the indexes whose rules have changed in the schema.
    pub(crate) fn renew_outdated_indexes(&self) -> Result<(), OpenError> {
        self.change_indexes(|state| {
            for spec in state.outdated(self.schema()) {
                self.make_anew(state, &spec)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn make_anew(&self, state: &mut IndexState, spec: &IndexSpec) -> Result<(), OpenError> {
        for kind in spec.kinds.iter() {
            state.set_complete(self.schema(), &spec.attribute, kind, false)?;
            state.work.push(WorkItem {
                attribute: spec.attribute.clone(),
                kind,
                stage: IndexStage::Clear,
                position: 1,
            });
        }
        Ok(())
    }

    /// Records the request for one kind of index of an attribute.
    fn request(
        &self,
        state: &mut IndexState,
        attribute: &str,
        kind: IndexKind,
        is_wanted: bool,
    ) -> Result<(), OpenError> {
        let is_complete = state.kinds_of(attribute).has(kind);
        let mut works = state.work.iter_mut();
        let work = works.find(|work| work.attribute == attribute && work.kind == kind);
        let stage = if is_wanted {
            IndexStage::Clear
        } else {
            IndexStage::Drop
        };
        match work {
            // The work under way has this goal already.
            Some(work) if is_wanted != (work.stage == IndexStage::Drop) => {}
            Some(work) => (work.stage, work.position) = (stage, 1),
            None if is_complete == is_wanted => {}
            None => {
                if is_complete {
                    state.set_complete(self.schema(), attribute, kind, false)?;
                }
                state.work.push(WorkItem {
                    attribute: attribute.to_owned(),
                    kind,
                    stage,
                    position: 1,
                });
            }
        }
        Ok(())
    }

    /// Changes the recorded state in a separate transaction, if the change has an effect.
    fn change_indexes(
        &self,
        change: impl FnOnce(&mut IndexState) -> Result<(), OpenError>,
    ) -> Result<bool, OpenError> {
        let read = |source: StoreError| OpenError::Read {
            path: self.path().into(),
            source,
        };
        let mut writer = self.write().map_err(read)?;
        let before = IndexState::read(&writer.view.txn, self.dbs.meta).map_err(read)?;
        let mut state = before.clone();
        change(&mut state)?;
        if state == before {
            return Ok(false);
        }
        state.generation += 1;
        number_attributes(&mut writer, &state).map_err(read)?;
        writer
            .write_index_state(&state)
            .and_then(|()| writer.commit())
            .map_err(read)?;
        Ok(true)
    }

    fn attribute_names(&self, names: &[String]) -> Result<Vec<String>, OpenError> {
        let known = |name: &String| {
            let attribute = self.schema().attribute(name);
            attribute
                .map(|attribute| attribute.name().to_owned())
                .ok_or_else(|| OpenError::Index {
                    text: name.clone(),
                    reason: "the schema does not define the attribute",
                })
        };
        names.iter().map(known).collect()
    }
}

fn complete_specs(state: &IndexState) -> Vec<IndexSpec> {
    state.complete.iter().map(|one| one.spec.clone()).collect()
}

/// Returns every attribute that has an index, is to have one, or has work under way.
fn attributes_of(state: &IndexState, wanted: &[IndexSpec]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let complete = state.complete.iter().map(|one| &one.spec.attribute);
    let work = state.work.iter().map(|work| &work.attribute);
    for name in wanted
        .iter()
        .map(|spec| &spec.attribute)
        .chain(complete)
        .chain(work)
    {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Gives every attribute type that is to be indexed its number.
fn number_attributes(writer: &mut Writer<'_>, state: &IndexState) -> Result<(), StoreError> {
    for work in &state.work {
        let attribute = writer.view.schema().attribute(&work.attribute);
        if let Some(attribute) = attribute.map(|attribute| attribute.index) {
            writer.number_description(&AttributeDescription::plain(attribute))?;
        }
    }
    Ok(())
}
