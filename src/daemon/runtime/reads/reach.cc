#include "daemon/runtime/reads/reach.h"

namespace perdure {
namespace {

constexpr int generations_max = 64;

}  // namespace

bool LineageReach::reaches(SessionId from, SessionId to) const {
  if (reach_ == AgentsReach::self) return false;
  const Result<const SessionRow*> own = sessions_.find(from);
  if (!own || *own == nullptr) return false;
  if (reach_ == AgentsReach::all) return true;
  for (int i = 0; i < generations_max && to; ++i) {
    const Result<const SessionRow*> row = sessions_.find(to);
    if (!row || *row == nullptr) return false;
    to = (*row)->summary.parent;
    if (to == from) return true;
  }
  return false;
}

}  // namespace perdure
