#pragma once
#include "session/inputs.h"
#include "session/state.h"
#include "base/result.h"
namespace perdure { Result<> validate_wait(const State&, const AnswerWait&, const Moment&); }
